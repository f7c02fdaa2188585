//! Slices between pages that nobody may touch: a kernel that reads or writes outside of its arguments ends the process, with a
//! line that says what was running. What is left of the slice's own pages is checked for writes.

use std::cell::Cell;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::ptr;
use std::sync::Once;

use bytemuck::Pod;

/// What the rest of the pages holds.
const FILL: u8 = 0xA5;

/// Where a slice lies in its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many elements after the guard in front.
    AfterGuard(usize),
    /// Ends at the guard behind.
    BeforeGuard,
}

/// Some pages with a slice in them, and a guard page on either side.
pub struct Guarded<T> {
    map: *mut u8,
    page: usize,
    pages: usize,
    /// Of the slice, in bytes from the first page behind the guard.
    start: usize,
    values: usize,
    _type: std::marker::PhantomData<T>,
}

impl<T: Pod> Guarded<T> {
    pub fn new(values: &[T], place: Place) -> Self {
        let page = page_bytes();
        let bytes = size_of_val(values);
        let before = if let Place::AfterGuard(elems) = place { elems * size_of::<T>() } else { 0 };
        let pages = (before + bytes).div_ceil(page).max(1);
        let start = if place == Place::BeforeGuard { pages * page - bytes } else { before };
        let mut made =
            Self { map: map(page, pages), page, pages, start, values: values.len(), _type: Default::default() };
        made.pages_mut().fill(FILL);
        made.slice_mut().copy_from_slice(values);
        made
    }

    fn pages_mut(&mut self) -> &mut [u8] {
        // SAFETY: these pages were mapped for reading and writing and belong to `self` alone.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(self.page), self.pages * self.page) }
    }

    fn first(&self) -> *mut T {
        // SAFETY: inside the map, or one past the last page where the slice is empty.
        unsafe { self.map.add(self.page + self.start).cast() }
    }

    pub fn slice(&self) -> &[T] {
        // SAFETY: the elements lie in the pages, begin at a multiple of their size, and any bytes are values of `T`.
        unsafe { std::slice::from_raw_parts(self.first(), self.values) }
    }

    pub fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `slice`.
        unsafe { std::slice::from_raw_parts_mut(self.first(), self.values) }
    }

    /// The slice, once what lies around it is seen to be untouched.
    pub fn into_values(mut self) -> Vec<T> {
        let values = self.slice().to_vec();
        let (start, end) = (self.start, self.start + size_of_val(&*values));
        let pages = self.pages_mut();
        assert!(pages[..start].iter().chain(&pages[end..]).all(|&byte| byte == FILL), "bytes around a slice changed");
        values
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and no slice outlives `self`.
        let status = unsafe { libc::munmap(self.map.cast(), (self.pages + 2) * self.page) };
        assert_eq!(status, 0, "munmap");
    }
}

fn page_bytes() -> usize {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// So many pages, and one without access on either side.
fn map(page: usize, pages: usize) -> *mut u8 {
    let (protection, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory at a place of the system's choice; then part of it is made accessible.
    unsafe {
        let map = libc::mmap(ptr::null_mut(), (pages + 2) * page, protection, flags, -1, 0);
        assert_ne!(map, libc::MAP_FAILED, "mmap");
        let inside = map.byte_add(page);
        assert_eq!(libc::mprotect(inside, pages * page, libc::PROT_READ | libc::PROT_WRITE), 0, "mprotect");
        map.cast()
    }
}

thread_local! {
    /// What is running, for the line that says so.
    static RUNNING: Cell<(*const u8, usize)> = const { Cell::new((ptr::null(), 0)) };
}

/// Calls `run`; if it touches a guard, the process ends with a line that names level and case.
pub fn named<R>(level: &str, case: &impl Debug, run: impl FnOnce() -> R) -> R {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    let line = format!("\nFAIL: {level} touches memory outside of its slices: {case:?}\n");
    RUNNING.set((line.as_ptr(), line.len()));
    let result = run();
    RUNNING.set((ptr::null(), 0));
    result
}

fn install() {
    // SAFETY: all bytes zero is an action without flags and mask; the handler is a function of the form that is asked for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = report as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_ONSTACK;
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0, "sigaction");
        }
    }
}

/// Only what a signal handler may do.
extern "C" fn report(_: libc::c_int) {
    let (line, len) = RUNNING.get();
    // SAFETY: the line lives as long as it is set.
    unsafe {
        libc::write(2, line.cast(), len);
        libc::_exit(1);
    }
}

#[test]
fn slices_lie_at_their_guards() {
    let page = page_bytes();
    for len in [0, 1, 5, page / 4, page] {
        let values: Vec<u32> = (0..len as u32).collect();
        for place in [Place::AfterGuard(0), Place::AfterGuard(3), Place::BeforeGuard] {
            let made = Guarded::new(&values, place);
            let range = made.slice().as_ptr_range();
            let inside = made.map as usize + page..made.map as usize + (made.pages + 1) * page;
            match place {
                Place::AfterGuard(elems) => assert_eq!(range.start as usize, inside.start + 4 * elems),
                Place::BeforeGuard => assert_eq!(range.end as usize, inside.end),
            }
            assert_eq!(made.into_values(), values);
        }
    }
}

/// In a process of its own, whose line and status are looked at.
#[test]
fn a_touched_guard_ends_the_process_with_the_case() {
    let made = Guarded::new(&[1u8, 2, 3], Place::BeforeGuard);
    let mut ends = [0; 2];
    let mut status = 0;
    // SAFETY: the child only touches the guard, which must end it, or ends itself.
    let line = unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0, "pipe");
        let child = libc::fork();
        assert!(child >= 0, "fork");
        if child == 0 {
            libc::dup2(ends[1], 2);
            named("some level", &"this case", || made.slice().as_ptr().add(3).read_volatile());
            libc::_exit(0);
        }
        libc::close(ends[1]);
        assert_eq!(libc::waitpid(child, &mut status, 0), child, "waitpid");
        File::from_raw_fd(ends[0])
    };
    let line = std::io::read_to_string(line).expect("the pipe can be read");
    assert_eq!(line, "\nFAIL: some level touches memory outside of its slices: \"this case\"\n");
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 1, "status {status}");
}
