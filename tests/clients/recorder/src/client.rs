// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Open files and their objects. A handle belongs to an open file description, which several
//! descriptors may share: Mesa duplicates its descriptor at every corner.

use std::collections::HashMap;

/// What is known of an object behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Counted from 1 in the order of appearance in this process.
    pub number: u32,
    /// Bytes, 0 if it was imported and its size is not known.
    pub size: u64,
    /// As last set or asked for.
    pub tiling: u32,
}

/// One open file description.
#[derive(Debug, Default)]
struct Client {
    number: u32,
    handles: HashMap<u32, Known>,
}

/// All of a process's.
#[derive(Debug, Default)]
pub struct Clients {
    clients: Vec<Client>,
    /// Descriptor to index in `clients`.
    descriptors: HashMap<i32, usize>,
    objects: u32,
    /// Global names (flink) that this process made, with the object's size and tiling.
    names: HashMap<u32, (u64, u32)>,
}

/// Return whether two open descriptors of this process are the same open file.
fn same(a: i32, b: i32) -> bool {
    const KCMP_FILE: i32 = 0;
    // SAFETY: kcmp(2) reads no memory of ours.
    unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            libc::getpid(),
            libc::getpid(),
            KCMP_FILE,
            a,
            b,
        ) == 0
    }
}

impl Clients {
    /// Return the client behind a descriptor, counted from 1.
    pub fn number(&mut self, fd: i32) -> u32 {
        let index = self.index(fd);
        self.clients[index].number
    }

    fn index(&mut self, fd: i32) -> usize {
        self.index_by(fd, same)
    }

    fn index_by(&mut self, fd: i32, same: impl Fn(i32, i32) -> bool) -> usize {
        if let Some(&index) = self.descriptors.get(&fd) {
            return index;
        }
        let known = self.descriptors.iter().find(|&(&other, _)| same(other, fd));
        let index = known.map_or(self.clients.len(), |(_, &index)| index);
        if index == self.clients.len() {
            self.clients.push(Client {
                number: index as u32 + 1,
                handles: HashMap::new(),
            });
        }
        self.descriptors.insert(fd, index);
        index
    }

    /// Forget a descriptor that is about to be closed.
    pub fn closed(&mut self, fd: i32) {
        self.descriptors.remove(&fd);
    }

    /// Record that a handle was given out. An object that the file already knew keeps its number.
    pub fn add(&mut self, fd: i32, handle: u32, size: u64, tiling: u32) -> Known {
        let index = self.index(fd);
        let objects = &mut self.objects;
        *self.clients[index]
            .handles
            .entry(handle)
            .or_insert_with(|| {
                *objects += 1;
                Known {
                    number: *objects,
                    size,
                    tiling,
                }
            })
    }

    /// Return what a handle stands for.
    pub fn object(&mut self, fd: i32, handle: u32) -> Option<Known> {
        let index = self.index(fd);
        self.clients[index].handles.get(&handle).copied()
    }

    /// Record tiling flags that were stored with an object.
    pub fn set_tiling(&mut self, fd: i32, handle: u32, tiling: u32) {
        let index = self.index(fd);
        if let Some(known) = self.clients[index].handles.get_mut(&handle) {
            known.tiling = tiling;
        }
    }

    /// Forget a handle that was given back.
    pub fn remove(&mut self, fd: i32, handle: u32) {
        let index = self.index(fd);
        self.clients[index].handles.remove(&handle);
    }

    /// Record that an object got a global name.
    pub fn name(&mut self, fd: i32, handle: u32, name: u32) {
        if let Some(known) = self.object(fd, handle) {
            self.names.insert(name, (known.size, known.tiling));
        }
    }

    /// Return size and tiling flags of the object with a global name, if this process gave it the name.
    pub fn named(&self, name: u32) -> Option<(u64, u32)> {
        self.names.get(&name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_of_one_file_share_handles() {
        let mut clients = Clients::default();
        assert_eq!(clients.index_by(3, |_, _| false), 0);
        let first = clients.add(3, 1, 4096, 0);
        assert_eq!(first.number, 1);
        assert_eq!(clients.index_by(4, |a, b| (a, b) == (3, 4)), 0);
        assert_eq!(clients.object(4, 1), Some(first));
        assert_eq!(clients.index_by(5, |_, _| false), 1);
        assert_eq!(clients.object(5, 1), None);
        assert_eq!(clients.add(5, 1, 8192, 0).number, 2);
        clients.remove(3, 1);
        assert_eq!(clients.object(4, 1), None);
        assert_eq!(clients.add(3, 1, 4096, 0).number, 3);
        clients.closed(5);
        assert_eq!(clients.index_by(5, |_, _| false), 2);
    }

    #[test]
    fn tiling_is_remembered() {
        let mut clients = Clients::default();
        clients.index_by(3, |_, _| false);
        clients.add(3, 9, 4096, 0);
        clients.set_tiling(3, 9, 3);
        assert_eq!(clients.object(3, 9).unwrap().tiling, 3);
        clients.name(3, 9, 77);
        assert_eq!(clients.named(77), Some((4096, 3)));
    }
}
