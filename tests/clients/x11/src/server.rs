// SPDX-License-Identifier: GPL-2.0 OR MIT

//! An X server of our own, with one screen and no input, that lives as long as a test needs it.

use anyhow::{Context, Result, bail, ensure};
use rustix::fd::AsRawFd;
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The server of the Debian root. What is in front of it there is for users.
const SERVER: &str = "/usr/lib/xorg/Xorg";
/// What the C library is not to use when it copies memory. The driver reads the chip's registers by such a copy, and the
/// accesses would depend on the processor otherwise; KVM does not even have all of them.
const NOT_USED: &str = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX_Fast_Unaligned_Load,-SSSE3,-ERMS";
/// The graphics of VIA's chip sets.
const VENDOR: &str = "0x1106";
const CLASS: &str = "0x030000";

/// What the server is started with.
pub struct Setup {
    /// Its driver.
    pub driver: String,
    /// Options of the driver, each `NAME=VALUE`.
    pub options: Vec<String>,
    /// Bits of a pixel that count.
    pub depth: u8,
    /// A library before it.
    pub preload: Option<PathBuf>,
}

impl Setup {
    /// Return the server's configuration. The screen has 640 x 480 pixels, and its monitor is there whatever the driver
    /// finds.
    fn config(&self, bus_id: &str) -> Result<String> {
        let mut options = String::new();
        for option in &self.options {
            let (name, value) = option
                .split_once('=')
                .with_context(|| format!("{option} is not NAME=VALUE"))?;
            writeln!(options, "    Option \"{name}\" \"{value}\"")?;
        }
        let Setup { driver, depth, .. } = self;
        Ok(format!(
            r#"Section "ServerFlags"
    Option "AutoAddDevices" "false"
    Option "AutoAddGPU" "false"
    Option "BlankTime" "0"
EndSection
Section "Module"
    Disable "glx"
EndSection
Section "Monitor"
    Identifier "monitor"
    HorizSync 30-50
    VertRefresh 55-65
    Option "Enable" "true"
EndSection
Section "Device"
    Identifier "card"
    Driver "{driver}"
    BusID "{bus_id}"
    Option "Monitor-VGA-1" "monitor"
{options}EndSection
Section "Screen"
    Identifier "screen"
    Device "card"
    Monitor "monitor"
    DefaultDepth {depth}
    SubSection "Display"
        Depth {depth}
        Modes "640x480"
    EndSubSection
EndSection
"#
        ))
    }
}

/// A running server.
pub struct Server {
    process: Child,
    log: PathBuf,
    /// The name of its display.
    pub display: String,
}

impl Server {
    /// Start it, and wait until it takes clients. Configuration and log are left in a folder.
    pub fn start(setup: &Setup, folder: &Path) -> Result<Server> {
        let config = folder.join("server.conf");
        let log = folder.join("server.log");
        fs::write(&config, setup.config(&bus_id()?)?)?;
        let (ready, tell) = rustix::pipe::pipe()?;
        let mut command = Command::new(SERVER);
        command
            .env("GLIBC_TUNABLES", NOT_USED)
            .args(["-noreset", "-nolisten", "tcp", "-ac"])
            .args(["-sharevts", "-novtswitch", "vt1"])
            .args(["-displayfd", &tell.as_raw_fd().to_string()])
            .arg("-config")
            .arg(&config)
            .arg("-logfile")
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("server.out"))?)
            .stderr(File::create(folder.join("server.err"))?);
        if let Some(library) = &setup.preload {
            command.env("LD_PRELOAD", library);
        }
        let process = command
            .spawn()
            .with_context(|| format!("{SERVER} cannot be started"))?;
        let mut server = Server {
            process,
            log,
            display: String::new(),
        };
        // The other end is only the server's now, so that its end is the end of what can be read.
        drop(tell);
        let mut number = String::new();
        BufReader::new(File::from(ready)).read_line(&mut number)?;
        if number.is_empty() {
            bail!("the X server gave up{}", server.complaint());
        }
        server.display = format!(":{}", number.trim());
        Ok(server)
    }

    /// End it. That it ends well is a part of the test.
    pub fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.process), Signal::TERM)?;
        let status = self.process.wait()?;
        ensure!(
            status.success(),
            "the X server ended with {status}{}",
            self.complaint()
        );
        Ok(())
    }

    /// Return the last lines of its log.
    fn complaint(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..]
            .iter()
            .fold(String::new(), |all, line| all + "\n    " + line)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` there is nothing left to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Return where the graphics is, as the server's configuration says it.
fn bus_id() -> Result<String> {
    for entry in fs::read_dir("/sys/bus/pci/devices")? {
        let folder = entry?.path();
        let is = |file: &str, what: &str| {
            fs::read_to_string(folder.join(file)).is_ok_and(|text| text.trim() == what)
        };
        if is("vendor", VENDOR) && is("class", CLASS) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            return config_place(&name);
        }
    }
    bail!("there is no graphics of VIA")
}

/// Return a place such as `0000:00:04.0` as the server's configuration has it, in decimal numbers.
fn config_place(name: &str) -> Result<String> {
    let odd = || format!("{name} is no place on a PCI bus");
    let parts: Vec<_> = name.split([':', '.']).collect();
    let [domain, bus, device, function] = parts[..] else {
        bail!(odd());
    };
    let number = |text| u32::from_str_radix(text, 16).with_context(odd);
    Ok(format!(
        "PCI:{}@{}:{}:{}",
        number(bus)?,
        number(domain)?,
        number(device)?,
        number(function)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_in_decimal_numbers() {
        assert_eq!(config_place("0000:0a:1f.3").unwrap(), "PCI:10@0:31:3");
        assert!(config_place("0000:0a").is_err());
        assert!(config_place("0000:0a:zz.0").is_err());
    }

    #[test]
    fn options_are_those_of_the_driver() {
        let mut setup = Setup {
            driver: "openchrome".into(),
            options: vec!["NoAccel=true".into()],
            depth: 16,
            preload: None,
        };
        let config = setup.config("PCI:0@0:4:0").unwrap();
        assert!(config.contains("    Option \"NoAccel\" \"true\"\nEndSection"));
        assert!(config.contains("DefaultDepth 16"));
        setup.options.push("nonsense".into());
        assert!(setup.config("").is_err());
    }
}
