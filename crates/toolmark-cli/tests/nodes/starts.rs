//! A start that fails leaves nothing behind that the next one would have to wait for.

mod postgres {
    use std::fs;
    use std::net::TcpListener;
    use std::process::Stdio;

    use tempfile::TempDir;

    use crate::support::toolmark;

    #[test]
    #[ignore = "needs a PostgreSQL in TOOLMARK_TEST_POSTGRES; `cargo xtask test` starts one"]
    fn a_start_that_fails_gives_the_name_of_its_node_back() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let database = runtime.block_on(toolmark_testkit::Database::new());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let taken = listener.local_addr().expect("an address").to_string();
        let (fine, lacking) = ("", "[telemetry.otlp]\nendpoint = \"http://${TOOLMARK_NOBODY_SETS_THIS}:4318\"\n");
        for (arguments, configuration, lock, code) in [
            (vec!["stdio", "--task", "nobody"], fine, None, "task-unknown"),
            (vec!["stdio"], lacking, None, "config-variable-missing"),
            (vec!["stdio"], fine, Some("no lock"), "json-syntax"),
            (vec!["up", "--listen", "127.0.0.1:0"], lacking, None, "config-variable-missing"),
            (vec!["up", "--listen", &taken], fine, None, "gateway-listen"),
        ] {
            let folder = TempDir::new().expect("a folder");
            fs::write(folder.path().join("toolmark.toml"), configuration).expect("written");
            if let Some(lock) = lock {
                fs::write(folder.path().join("toolmark.lock"), lock).expect("written");
            }
            let mut command = toolmark(folder.path());
            command.args(&arguments).args(["--store", database.url()]).stdin(Stdio::null());
            let done = command.output().expect("it runs");
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(!done.status.success() && said.contains(&format!("error[{code}]")), "{arguments:?}: {said}");
            let held = runtime.block_on(database.number("SELECT count(*) FROM node_leases"));
            assert_eq!(held, 0, "{arguments:?} kept its name");
        }
    }
}
