use super::*;
use crate::results::{RESULTS_FILE, SUMMARY_FILE};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};
use proptest::prelude::Strategy;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

fn jobs() -> Vec<Job> {
    let job = |point: usize, seed| Job {
        point,
        seed,
        values: vec![("traffic.all.interval".into(), format!("1..{} s", 100 * (point + 1)))],
    };
    (0..4).flat_map(|point| (1..=5).map(move |seed| job(point, seed))).collect()
}

fn sweep<'a>(out: &'a Path, jobs: &'a [Job], threads: usize) -> Sweep<'a> {
    let build = Build { version: "0.1.0".into(), commit: "abc".into() };
    Sweep {
        out,
        scenario: "name = \"test\"\n",
        identity: "test",
        shard: None,
        build,
        jobs,
        threads,
        watch: None,
    }
}

/// Numbers that JSON, Parquet and means must not bend; some undefined.
fn fake(job: &Job) -> Result<Metrics, String> {
    let created = (job.point * 31) as f64 + job.seed as f64 / 3.0;
    let latency = if job.seed == 4 { f64::INFINITY } else { 0.1 + created };
    Ok(vec![("created".into(), created), ("latency_avg".into(), latency)])
}

fn files(out: &Path) -> (Vec<u8>, Vec<u8>) {
    (fs::read(out.join(RESULTS_FILE)).unwrap(), fs::read(out.join(SUMMARY_FILE)).unwrap())
}

fn undisturbed() -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path(), &jobs(), 1).run(fake).unwrap();
    files(folder.path())
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/folder");
    sweep(&out, &jobs(), 2).run(fake).unwrap();
    assert_eq!(files(&out), undisturbed());
}

#[test]
fn a_journal_cut_anywhere_resumes_to_the_same_bytes() {
    let jobs = jobs();
    let whole = tempfile::tempdir().unwrap();
    sweep(whole.path(), &jobs, 2).run(fake).unwrap();
    let journal = fs::read(whole.path().join(JOURNAL_FILE)).unwrap();
    let wanted = undisturbed();
    for cut in (0..journal.len()).step_by(97).chain([journal.len() - 1, journal.len()]) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(JOURNAL_FILE), &journal[..cut]).unwrap();
        let finished = journal[..cut].iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
        let runs = AtomicUsize::new(0);
        let counted = |job: &Job| {
            runs.fetch_add(1, Ordering::Relaxed);
            fake(job)
        };
        sweep(folder.path(), &jobs, 2).run(counted).unwrap();
        assert_eq!(runs.into_inner(), jobs.len() - finished, "cut at {cut}");
        assert_eq!(files(folder.path()), wanted, "cut at {cut}");
    }
}

#[test]
fn a_run_that_fails_stops_the_sweep_and_keeps_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    let failing = |job: &Job| if job.point == 3 { Err("no such map".to_string()) } else { fake(job) };
    let said = sweep(folder.path(), &jobs, 1).run(failing).unwrap_err().to_string();
    assert!(said.starts_with("run 3 with seed") && said.ends_with("failed: no such map"), "{said}");
    assert!(!folder.path().join(RESULTS_FILE).exists());
    sweep(folder.path(), &jobs, 1).run(fake).unwrap();
    assert_eq!(files(folder.path()), undisturbed());
}

#[test]
fn a_journal_of_another_sweep_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    sweep(folder.path(), &jobs, 1).run(fake).unwrap();
    let mut other = sweep(folder.path(), &jobs, 1);
    other.identity = "other";
    assert_refused(other.run(fake));
    let mut other = sweep(folder.path(), &jobs, 1);
    other.build.version = "0.2.0".into();
    assert_refused(other.run(fake));
}

fn assert_refused(run: Result<Results, Error>) {
    let said = run.unwrap_err().to_string();
    assert!(said.contains("holds runs of another sweep: they ") && !said.contains('\n'), "{said}");
}

#[test]
fn a_damaged_line_in_the_middle_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    sweep(folder.path(), &jobs, 1).run(fake).unwrap();
    let path = folder.path().join(JOURNAL_FILE);
    let text = fs::read_to_string(&path).unwrap().replacen(
        "{\"point\":0,\"values\":[[\"traffic.all.interval\",\"1..100 s\"]],\"seed\":2",
        "{\"po",
        1,
    );
    fs::write(&path, text).unwrap();
    let said = sweep(folder.path(), &jobs, 1).run(fake).unwrap_err().to_string();
    assert!(
        said.ends_with("runs.jsonl:3: the line is damaged; delete the line, and its run is done again"),
        "{said}"
    );
}

#[test]
fn a_table_that_looks_newer_than_its_journal_hides_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let (out, jobs) = (folder.path(), jobs());
    sweep(out, &jobs[..5], 1).run(fake).unwrap();
    let old = fs::read(out.join(RESULTS_FILE)).unwrap();
    sweep(out, &jobs, 1).run(fake).unwrap();
    // As a copy of the folder leaves it.
    fs::write(out.join(RESULTS_FILE), old).unwrap();
    assert_eq!(read(out).unwrap().unwrap().rows.len(), jobs.len());
    assert_eq!(merge(out).unwrap().rows.len(), jobs.len());
    assert_eq!(files(out), undisturbed());
}

#[test]
fn processes_that_start_together_lose_no_plan_of_another() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let (out, jobs) = (folder.path(), jobs());
        std::thread::scope(|scope| {
            for index in 0..4 {
                let jobs = &jobs[5 * index..5 * index + 5];
                scope.spawn(move || part(out, jobs, &format!("{}/4", index + 1)).run(fake).unwrap());
            }
        });
        let found = read(out).unwrap().unwrap();
        assert_eq!(found.rows.len() + found.missing, jobs.len());
    }
}

fn part<'a>(out: &'a Path, jobs: &'a [Job], shard: &str) -> Sweep<'a> {
    Sweep { shard: Shard::parse(shard).ok(), ..sweep(out, jobs, 1) }
}

proptest::proptest! {
    /// Parts in any order, some of them cut off and begun again, give the bytes of one process.
    #[test]
    fn parts_in_any_order_with_some_cut_off_merge_to_the_same_bytes(
        order in proptest::prelude::Just((1..=7_usize).collect::<Vec<_>>()).prop_shuffle(),
        cut in proptest::collection::vec((0..7_usize, 0.0..1.0_f64), 0..3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (out, jobs) = (folder.path(), jobs());
        for shard in &order {
            part(out, &jobs, &format!("{shard}/7")).run(fake).unwrap();
        }
        for (shard, at) in cut {
            let name = format!("{}/7", shard + 1);
            let path = out.join(journal_of(Shard::parse(&name).ok()));
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..(bytes.len() as f64 * at) as usize]).unwrap();
            fs::remove_file(table_of(&path)).unwrap_or_default();
            proptest::prop_assert!(Results::read(out).unwrap().missing <= 3);
            part(out, &jobs, &name).run(fake).unwrap();
        }
        proptest::prop_assert_eq!(Results::read(out).unwrap().missing, 0);
        merge(out).unwrap();
        proptest::prop_assert_eq!(files(out), undisturbed());
        let left: Vec<_> = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        // Journal, plan with its lock, table, summary.
        proptest::prop_assert_eq!(left.len(), 5, "{:?}", left);
    }

    /// Whatever a sweep begins with, it ends with the bytes of one that had all from the start, and runs nothing twice.
    #[test]
    fn seeds_and_points_are_added(first in proptest::collection::vec(proptest::bool::ANY, 20)) {
        let folder = tempfile::tempdir().unwrap();
        let all = jobs();
        let some: Vec<Job> = all.iter().zip(&first).filter(|(_, take)| **take).map(|(job, _)| job.clone()).collect();
        sweep(folder.path(), &some, 1).run(fake).unwrap();
        let runs = AtomicUsize::new(0);
        let counted = |job: &Job| {
            runs.fetch_add(1, Ordering::Relaxed);
            fake(job)
        };
        sweep(folder.path(), &all, 1).run(counted).unwrap();
        proptest::prop_assert_eq!(runs.into_inner(), all.len() - some.len());
        proptest::prop_assert_eq!(files(folder.path()), undisturbed());
    }
}

#[test]
fn parts_that_begin_at_one_moment_do_not_disturb_each_other() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let (out, jobs) = (folder.path(), jobs());
        std::thread::scope(|scope| {
            for shard in 1..=8 {
                let jobs = &jobs;
                scope.spawn(move || part(out, jobs, &format!("{shard}/8")).run(fake).unwrap());
            }
        });
        merge(out).unwrap();
        assert_eq!(files(out), undisturbed());
    }
}

#[test]
fn a_run_that_came_out_differently_in_two_parts_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    part(folder.path(), &jobs, "1/2").run(fake).unwrap();
    part(folder.path(), &jobs, "2/2").run(fake).unwrap();
    let other = folder.path().join("runs-3-of-9.jsonl");
    let text = fs::read_to_string(folder.path().join("runs-1-of-2.jsonl")).unwrap();
    fs::write(&other, &text).unwrap();
    assert_eq!(Results::read(folder.path()).unwrap().rows.len(), jobs.len(), "the same twice is the same");
    let wrong = text.replacen("\"created\",", "\"created\",1", 1);
    assert_ne!(wrong, text);
    fs::write(&other, wrong).unwrap();
    let said = merge(folder.path()).unwrap_err().to_string();
    assert!(
        said.contains("have different results of one run (traffic.all.interval = 1..100 s, seed 1)"),
        "{said}"
    );
    assert!(said.contains("runs-3-of-9.jsonl") && !said.contains('\n'), "{said}");
}

#[test]
fn a_folder_is_not_merged_while_a_part_is_running() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    part(folder.path(), &jobs, "1/2").run(fake).unwrap();
    let held = fs::OpenOptions::new().write(true).open(folder.path().join("runs-1-of-2.jsonl")).unwrap();
    held.lock().unwrap();
    let said = merge(folder.path()).unwrap_err().to_string();
    assert!(said.starts_with("another sweep is writing to"), "{said}");
    drop(held);
    assert_eq!(merge(folder.path()).unwrap().missing, 10);
}

#[test]
fn two_sweeps_never_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    let held = fs::File::create(folder.path().join(JOURNAL_FILE)).unwrap();
    held.lock().unwrap();
    let said = sweep(folder.path(), &jobs, 1).run(fake).unwrap_err().to_string();
    assert!(said.starts_with("another sweep is writing to"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_used_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let told = |out: &Path| sweep(out, &jobs, 1).run(fake).unwrap_err().to_string();
    assert!(told(&file).ends_with("is a file; name a folder for the results"));
    assert!(told(folder.path()).contains("holds other files"));
    assert!(told(&file.join("below")).starts_with("cannot make the folder"));
    assert!(told(Path::new("/proc/lightlag")).starts_with("cannot make the folder"));
}

#[test]
fn points_times_seeds_are_bounded() {
    let axis = (1..=100).map(|n| format!("\"{n} kB\"")).collect::<Vec<_>>().join(",");
    let text = format!(
        "duration = \"1 h\"\nrouter = \"epidemic\"\nbuffer = [{axis}]\n[nodes.w]\ncount = 10\n\
         mobility = {{ model = \"random_waypoint\", area = \"1 km x 1 km\", speed = \"1 m/s\" }}\n\
         radio = {{ range = \"100 m\", rate = \"1 Mbit/s\" }}\n[traffic.t]\ninterval = \"60 s\"\nsize = \"1 B\"\n"
    );
    let file = ScenarioFile::from_toml("s.toml", &text, ".".into(), Catalogue::default().into()).unwrap();
    let seeds: Vec<Seed> = (0..20_000).map(Seed::Number).collect();
    let line = Plan::new(&file, "", &seeds).unwrap_err().to_string();
    assert!(line.starts_with("s.toml: 100 points with 20000 seeds are 2000000 runs"), "{line}");
}
