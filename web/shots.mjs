// node shots.mjs OUT URL NAME [views: all|-|a,b] [sizes 400l,1100d,...] [full]
import { launch, close } from "./test/helper.mjs";
const [,, out, url, name, views = "all", sizes = "1100l", full = "", wait = "700"] = process.argv;
const browser = await launch();
for (const size of sizes.split(",")) {
  const width = parseInt(size), scheme = size.endsWith("d") ? "dark" : "light";
  const context = await browser.newContext({ viewport: { width, height: width < 500 ? 800 : width > 2000 ? 1300 : 850 }, colorScheme: scheme });
  const page = await context.newPage();
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && console.log(name, "console:", m.text().slice(0, 200)));
  page.on("pageerror", (e) => console.log(name, "pageerror:", String(e).slice(0, 200)));
  await page.goto(url);
  await page.waitForFunction(() => !window.lightlag || window.lightlag.error || window.lightlag.sides.length > 0 && window.lightlag.sides.every((s) => s.state !== "reading"), undefined, { timeout: 120000 }).catch((e) => console.log(name, String(e).slice(0, 100)));
  const tabs = views === "-" ? [""] : views === "all" ? await page.getByRole("tab").allTextContents() : views.split(",");
  for (const tab of tabs) {
    if (tab) await page.getByRole("tab", { name: tab, exact: true }).click();
    await page.waitForTimeout(Number(wait));
    await page.screenshot({ path: `${out}/${name}-${tab || "page"}-${size}.png`, fullPage: full === "full" });
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) console.log(name, size, "too wide by", wide);
  await context.close();
}
await close();
