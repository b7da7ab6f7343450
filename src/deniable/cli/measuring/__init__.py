"""Commands that measure what a release is worth: mechanisms compared, a task of one's own, the paper's tasks,
a space tuned for one."""
