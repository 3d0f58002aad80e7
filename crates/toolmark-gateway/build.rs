//! Puts the console's pages into the binary: every file under `console/`, with its type and a tag of what it holds. Nothing is changed
//! or bundled; what is in the folder is what is served.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("console");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    gather(&root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let path: Vec<String> = file
            .strip_prefix(&root)?
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        let path = path.join("/");
        let kind = kind(&path).ok_or_else(|| format!("nobody knows the type of console/{path}"))?;
        let digest = Sha256::digest(std::fs::read(file)?);
        let tag = digest.iter().take(12).fold(String::new(), |mut tag, byte| {
            // Writing to a string cannot fail.
            let _ = write!(tag, "{byte:02x}");
            tag
        });
        let tag = format!("\"{tag}\"");
        writeln!(table, "Asset {{ path: {path:?}, kind: {kind:?}, tag: {tag:?}, bytes: include_bytes!({file:?}) }},")?;
    }
    table.push_str("]\n");
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("console.rs"), table)?;
    Ok(())
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden || path.extension().is_some_and(|end| end == "md") {
            continue;
        }
        if path.is_dir() { gather(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn kind(path: &str) -> Option<&'static str> {
    Some(match path.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}
