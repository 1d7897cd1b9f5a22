// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0

// clang-format off: it would write one name per line

// One list of names serves all processors and versions of the system's headers: a call that they do not know is -1,
// which is no call. The macros of the calls that they know hide the enumerators here, which must therefore come first.
enum : int {
    SYS_access = -1, SYS_alarm = -1, SYS_arch_prctl = -1, SYS_chmod = -1, SYS_close_range = -1,
    SYS_copy_file_range = -1, SYS_creat = -1, SYS_dup2 = -1, SYS_epoll_wait = -1, SYS_faccessat2 = -1, SYS_fork = -1,
    SYS_fsconfig = -1, SYS_fsmount = -1, SYS_fsopen = -1, SYS_fspick = -1, SYS_futex_wait = -1, SYS_futex_waitv = -1,
    SYS_futex_wake = -1, SYS_getdents = -1, SYS_getpgrp = -1, SYS_getrlimit = -1, SYS_io_uring_enter = -1,
    SYS_io_uring_register = -1, SYS_io_uring_setup = -1, SYS_ioperm = -1, SYS_iopl = -1, SYS_kexec_file_load = -1,
    SYS_link = -1, SYS_lookup_dcookie = -1, SYS_lstat = -1, SYS_map_shadow_stack = -1, SYS_membarrier = -1,
    SYS_mkdir = -1, SYS_mlock2 = -1, SYS_modify_ldt = -1, SYS_mount_setattr = -1, SYS_move_mount = -1, SYS_open = -1,
    SYS_open_tree = -1, SYS_openat2 = -1, SYS_pause = -1, SYS_pidfd_getfd = -1, SYS_pidfd_open = -1,
    SYS_pidfd_send_signal = -1, SYS_pipe = -1, SYS_pkey_alloc = -1, SYS_pkey_free = -1, SYS_pkey_mprotect = -1,
    SYS_poll = -1, SYS_preadv2 = -1, SYS_process_madvise = -1, SYS_process_mrelease = -1, SYS_pwritev2 = -1,
    SYS_quotactl_fd = -1, SYS_readlink = -1, SYS_rename = -1, SYS_rmdir = -1, SYS_rseq = -1, SYS_select = -1,
    SYS_setrlimit = -1, SYS_stat = -1, SYS_statx = -1, SYS_symlink = -1, SYS_time = -1, SYS_unlink = -1,
    SYS_vfork = -1};

#include <sys/syscall.h>

#include <troupe/worker/process/call_lists.hpp>

namespace troupe::call_lists {

std::span<const int> on_other_processes() noexcept {
  static constexpr int all[] = {
      SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_process_mrelease,
      SYS_pidfd_getfd, SYS_kcmp, SYS_bpf, SYS_userfaultfd, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
      SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr,
      SYS_setns, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_init_module, SYS_finit_module, SYS_delete_module,
      SYS_kexec_load, SYS_kexec_file_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl,
      SYS_quotactl_fd, SYS_open_by_handle_at, SYS_settimeofday, SYS_clock_settime, SYS_sethostname,
      SYS_setdomainname};
  return all;
}

std::span<const int> on_the_system() noexcept {
  static constexpr int all[] = {
      SYS_perf_event_open, SYS_unshare, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
      SYS_name_to_handle_at, SYS_fanotify_init, SYS_syslog, SYS_vhangup, SYS_adjtimex, SYS_clock_adjtime,
      SYS_personality, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_lookup_dcookie, SYS_migrate_pages, SYS_shmget,
      SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd,
      SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_pidfd_send_signal};
  return all;
}

std::span<const int> processes_and_sockets() noexcept {
  static constexpr int all[] = {
      SYS_fork, SYS_vfork, SYS_execve, SYS_execveat, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind,
      SYS_listen, SYS_accept, SYS_accept4, SYS_tkill, SYS_pidfd_open, SYS_setsid, SYS_setpgid};
  return all;
}

std::span<const int> needed() noexcept {
  static constexpr int all[] = {
      SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev,
      SYS_preadv2, SYS_pwritev2, SYS_lseek, SYS_open, SYS_openat, SYS_openat2, SYS_close, SYS_close_range,
      SYS_creat, SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_access,
      SYS_faccessat, SYS_faccessat2, SYS_readlink, SYS_readlinkat, SYS_getcwd, SYS_getdents, SYS_getdents64,
      SYS_dup, SYS_dup2, SYS_dup3, SYS_fcntl, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fallocate,
      SYS_fadvise64, SYS_rename, SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_rmdir, SYS_mkdir,
      SYS_mkdirat, SYS_symlink, SYS_symlinkat, SYS_link, SYS_linkat, SYS_chmod, SYS_fchmod, SYS_fchmodat,
      SYS_utimensat, SYS_umask, SYS_chdir, SYS_fchdir, SYS_copy_file_range, SYS_sendfile, SYS_memfd_create,
      SYS_ioctl, SYS_pipe, SYS_pipe2, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_create1,
      SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime,
      SYS_timerfd_gettime, SYS_sendmsg, SYS_recvmsg, SYS_sendto, SYS_recvfrom, SYS_shutdown, SYS_getsockopt,
      SYS_setsockopt, SYS_getsockname, SYS_getpeername, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap,
      SYS_madvise, SYS_msync, SYS_mincore, SYS_brk, SYS_mlock, SYS_munlock, SYS_mlock2, SYS_pkey_alloc,
      SYS_pkey_free, SYS_pkey_mprotect, SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_membarrier,
      SYS_futex, SYS_futex_waitv, SYS_futex_wait, SYS_futex_wake, SYS_set_robust_list, SYS_get_robust_list,
      SYS_rseq, SYS_set_tid_address, SYS_arch_prctl, SYS_prctl, SYS_clone, SYS_exit, SYS_exit_group, SYS_kill,
      SYS_tgkill, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
      SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_sigaltstack,
      SYS_restart_syscall, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid,
      SYS_getegid, SYS_getpgrp, SYS_getpgid, SYS_getsid, SYS_getresuid, SYS_getresgid, SYS_getgroups, SYS_uname,
      SYS_sysinfo, SYS_times, SYS_getrusage, SYS_getrlimit, SYS_setrlimit, SYS_prlimit64, SYS_getcpu,
      SYS_getpriority, SYS_setpriority, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity,
      SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_setscheduler, SYS_sched_get_priority_max,
      SYS_sched_get_priority_min, SYS_sched_getattr, SYS_sched_setattr, SYS_clock_gettime, SYS_clock_getres,
      SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_time, SYS_alarm, SYS_setitimer, SYS_getitimer,
      SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_delete, SYS_pause, SYS_getrandom,
      SYS_capget, SYS_wait4, SYS_waitid, SYS_map_shadow_stack};
  return all;
}

}  // namespace troupe::call_lists
