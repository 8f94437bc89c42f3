package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	got := write([]step{
		{what: "get it", command: "git clone …/rollcall", took: 1500 * time.Millisecond},
		{what: "see it work", command: "make demo", took: 83 * time.Second, says: "a | b", after: 61 * time.Second},
		{what: "deploy", command: "make deploy", took: 12 * time.Second, exit: 2, says: "no credentials", after: 12 * time.Second},
	}, false, 2)
	want := `# The first ten minutes

What somebody does who has just heard of Rollcall, from an empty folder and with nothing of Go's or npm's downloaded or built before, on 2 cores, timed (` + "`make first-minutes`" + ` does it again and writes this page): **1 min 36 s** in all. There are no AWS credentials; what asks an AWS asks the [stage](stage.md) that the demo left up.

| | command | took | exit status | what it says |
|---|---|---|---|---|
| get it | ` + "`git clone …/rollcall`" + ` | 1.5 s | 0 |  |
| see it work | ` + "`make demo`" + ` | 1 min 23 s | 0 | after 1 min 01 s: a \| b |
| deploy | ` + "`make deploy`" + ` | 12 s | 2 | no credentials |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWithoutAWS(t *testing.T) {
	got := withoutAWS([]string{"PATH=/bin", "AWS_PROFILE=prod", "GOFLAGS=-race", "GOPROXY=x", "GOCACHE=/c"})
	if diff := cmp.Diff([]string{"PATH=/bin", "GOPROXY=x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
