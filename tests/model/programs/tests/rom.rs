// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The programs around ROMs: `atom-image` writes one, `gpu-model --rom` takes a file or says what is wrong with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use vfio_bindings::bindings::vfio::VFIO_PCI_ROM_REGION_INDEX;
use vfio_user::Client;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("gpu-model-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.at(name), bytes).unwrap();
        self.at(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn image(folder: &Folder, chip: &str) -> Vec<u8> {
    let file = folder.at(chip);
    let status = Command::new(env!("CARGO_BIN_EXE_atom-image"))
        .args(["--chip", chip, "--vram-size", "64"])
        .arg(&file)
        .status()
        .unwrap();
    assert!(status.success());
    fs::read(file).unwrap()
}

fn model(folder: &Folder, rom: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpu-model"));
    command
        .args(["--chip", "r580", "--vram-size", "16", "--rom"])
        .arg(rom)
        .arg("--socket")
        .arg(folder.at("gpu"))
        .stdin(Stdio::null());
    command
}

#[test]
fn a_dump_is_what_the_guest_sees() {
    let folder = Folder::new("dump");
    let rom = image(&folder, "r580");
    // As read from a flash chip: the image, and unused bytes.
    let mut flash = rom.clone();
    flash.resize(0x1_0000, 0xff);
    let file = folder.write("flash", &flash);
    let mut running = Running(model(&folder, &file).spawn().unwrap());
    let begin = Instant::now();
    while !folder.at("gpu").exists() {
        assert!(running.0.try_wait().unwrap().is_none(), "it did not start");
        assert!(begin.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(2));
    }
    // The socket exists a moment before the server listens.
    let mut client = loop {
        match Client::new(&folder.at("gpu")) {
            Ok(client) => break client,
            Err(e) => assert!(begin.elapsed() < Duration::from_secs(20), "{e}"),
        }
        thread::sleep(Duration::from_millis(2));
    };
    let mut seen = vec![0; rom.len()];
    for (i, piece) in seen.chunks_mut(256).enumerate() {
        client
            .region_read(VFIO_PCI_ROM_REGION_INDEX, i as u64 * 256, piece)
            .unwrap();
    }
    assert_eq!(seen, rom);
}

#[test]
fn a_broken_file_is_refused_in_one_line() {
    let folder = Folder::new("broken");
    let rom = image(&folder, "rv515");
    let mut changed = rom.clone();
    changed[0x400] ^= 0x10;
    let cases = [
        (folder.write("empty", &[]), "0 bytes"),
        (folder.write("text", &[b'#'; 4096]), "not 55 aa"),
        (folder.write("short", &rom[..1024]), "and the file has 1024"),
        (folder.write("changed", &changed), "checksum is wrong"),
        (folder.at("absent"), "cannot read"),
    ];
    for (file, message) in cases {
        let Output { status, stderr, .. } = model(&folder, &file).output().unwrap();
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(!status.success(), "{message}");
        assert!(stderr.contains(message), "{stderr}");
        assert!(stderr.contains(file.to_str().unwrap()), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn every_chip_has_an_image_of_its_own() {
    let folder = Folder::new("images");
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for chip in ["rv515", "r520", "rv530", "rv560", "rv570", "r580"] {
        let rom = image(&folder, chip);
        assert!(!seen.contains(&rom), "{chip}");
        seen.push(rom);
    }
}
