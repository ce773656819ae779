// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Events of devices (uevents), as the kernel sends them to udev and other listeners.

use crate::limit::Limit;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uevent {
    /// `ACTION@PATH`.
    pub what: String,
    values: BTreeMap<String, String>,
}

impl Uevent {
    /// Return a value of the event.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Parse strings that end with zeros: what happened, then `KEY=VALUE`.
    fn parse(message: &[u8]) -> Uevent {
        let mut parts = message
            .split(|&byte| byte == 0)
            .map(|part| String::from_utf8_lossy(part).into_owned());
        Uevent {
            what: parts.next().unwrap_or_default(),
            values: parts
                .filter_map(|part| part.split_once('=').map(|(k, v)| (k.into(), v.into())))
                .collect(),
        }
    }
}

/// A listener, from the moment when it was made.
#[derive(Debug)]
pub struct Uevents {
    socket: OwnedFd,
}

impl Uevents {
    /// Begin to listen to the kernel.
    pub fn listen() -> Result<Uevents> {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        // SAFETY: a plain system call; the descriptor is ours alone.
        let socket = unsafe {
            let raw = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_KOBJECT_UEVENT);
            if raw < 0 {
                return Err(std::io::Error::last_os_error()).context("a socket for events");
            }
            OwnedFd::from_raw_fd(raw)
        };
        // SAFETY: all zeros are a valid address, of which the fields that count are set.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as u16;
        // The kernel's own events, not those of udev.
        address.nl_groups = 1;
        // SAFETY: the address is as long as it says.
        let bound = unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as u32,
            )
        };
        if bound != 0 {
            return Err(std::io::Error::last_os_error()).context("listening to events");
        }
        Ok(Uevents { socket })
    }

    /// Wait for an event that is wanted; the others are passed over.
    pub fn wait(&mut self, limit: Duration, wanted: impl Fn(&Uevent) -> bool) -> Result<Uevent> {
        let mut limit = Limit::new(limit);
        let mut message = [0u8; 8192];
        loop {
            // SAFETY: the buffer is as long as it says.
            let length = unsafe {
                libc::recv(
                    self.socket.as_raw_fd(),
                    message.as_mut_ptr().cast(),
                    message.len(),
                    libc::MSG_DONTWAIT,
                )
            };
            if length > 0 {
                let event = Uevent::parse(&message[..length as usize]);
                if wanted(&event) {
                    return Ok(event);
                }
            } else {
                limit.rest("no such event")?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_become_values() {
        let event =
            Uevent::parse(b"change@/devices/x\0ACTION=change\0WEDGED=none\0TASK=a=b\0odd\0");
        assert_eq!(event.what, "change@/devices/x");
        assert_eq!(event.get("WEDGED"), Some("none"));
        assert_eq!(event.get("TASK"), Some("a=b"));
        assert_eq!(event.get("odd"), None);
        assert_eq!(Uevent::parse(b""), Uevent::default());
    }
}
