// Package release keeps what a release of Rollcall writes, so that every later
// one is tried with it: the records of its table and the messages of its
// queues, as its own programs wrote them while they played the stories.
// An upgrade finds these records in the table, and these messages in the
// queues; a rollback finds those of the newer release.
//
// The samples of a release are made by `make release-samples RELEASE=N`, anew until it
// has a tag, and never after that.
package release
