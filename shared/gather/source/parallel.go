package source

// Parallel bounds the calls at once: enough to be done in a second, few
// enough to leave the account's request buckets to others.
const Parallel = 6
