/** What wasm-bindgen makes of crates/web; vite.config.js says where it is. */
declare module "lightlag" {
  export default function init(input: { module_or_path: BufferSource }): Promise<unknown>;
  export class World {
    constructor(text: string, seed?: number | null, files?: object | null, point?: number | null, set?: object | null, positions?: boolean);
    advance(seconds: number): boolean;
    choose(columns: string[]): void;
    records(): object;
    names(): string;
    figures(): string;
    digest(): string | undefined;
    columns(): string;
    static exact(text: string, seed?: number | null, files?: object | null, point?: number | null, set?: object | null): World;
    free(): void;
    readonly time: number;
    readonly duration: number;
  }
  export function streets(text: string, files?: object | null, point?: number | null, set?: object | null): object;
  export function check(text: string, files?: object | null): string;
  export function schema(): string;
}
