package text

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const (
	unauthorized = `Nov 20 15:03:11 ip-10-0-1-2 kubelet[1234]: E1120 15:03:11.123456 1234 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized" node="ip-10-0-1-2"`
	noAddress    = `Nov 20 15:04:11 ip-10-0-1-2 kubelet[1234]: E1120 15:04:11.123456 1234 pod_workers.go:1301] "Error syncing pod" err="failed to assign an IP address to container" pod="default/a-1"`
	syncing      = `Nov 20 15:03:%02d ip-10-0-1-2 kubelet[1234]: I1120 15:03:11.123456 1234 kubelet.go:2345] "SyncLoop ADD" source="api" pods=["kube-system/aws-node-%d"]`
)

// logOf is a log with lines that say nothing between those given.
func logOf(between int, lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		for i := range between {
			fmt.Fprintf(&b, syncing+"\n", i%60, i)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// seen is what a log told, a line each.
func seen(t *testing.T, r io.Reader) (lines []string, l Log) {
	t.Helper()
	l, err := ReadLog(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range l.Told {
		lines = append(lines, fmt.Sprintf("%d %s %d", x.Number, x.Check, x.Count))
	}
	return lines, l
}

// Of a log each check is told once, with its first line and how many there are; a
// cause stands before how something shows, wherever they stood.
func TestLogTellsEachCheckOnce(t *testing.T) {
	lines, l := seen(t, strings.NewReader(logOf(50, unauthorized, strings.Replace(unauthorized, "15:03:11", "15:03:21", 2), noAddress, unauthorized)))
	first, second := Tell(unauthorized), Tell(noAddress)
	if first.weight() > second.weight() || second.Check == "" || second.Check == first.Check {
		t.Fatalf("the lines tell %s and %s", first.Check, second.Check)
	}
	want := []string{fmt.Sprintf("51 %s 3", first.Check), fmt.Sprintf("153 %s 1", second.Check)}
	if second.weight() > first.weight() {
		want[0], want[1] = want[1], want[0]
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if l.Lines != 204 || l.Unread != 0 || l.Cut != 0 {
		t.Errorf("%d lines, %d unread, %d cut", l.Lines, l.Unread, l.Cut)
	}
}

// A log of lines that all differ is bounded, and what was not told is counted.
func TestLogOfTooManyForms(t *testing.T) {
	var b strings.Builder
	const most, more = 50, 7
	for i := range most + more {
		word := ""
		for n := i; n > 0; n /= 26 {
			word += string(rune('a' + n%26))
		}
		b.WriteString("x" + word + "\n")
	}
	b.WriteString(unauthorized + "\n")
	l, err := readLog(strings.NewReader(b.String()), most)
	if err != nil || l.Unread != more+1 || l.Lines != most+more+1 || len(l.Told) > 0 {
		t.Errorf("%d of %d lines unread, %d told, %v", l.Unread, l.Lines, len(l.Told), err)
	}
}

// Noise and lines without end neither tell anything nor end the reading.
func TestLogWithNoise(t *testing.T) {
	noisy := strings.Repeat("\x00\xff\x01", 400) + "\n" + strings.Repeat("a", 3*longestLine) + unauthorized + "\n\n" + unauthorized
	lines, l := seen(t, iotest.HalfReader(strings.NewReader(noisy)))
	if diff := cmp.Diff([]string{"4 " + string(Tell(unauthorized).Check) + " 1"}, lines); diff != "" || l.Lines != 4 || l.Cut != 1 {
		t.Errorf("%s: %d lines, %d cut", diff, l.Lines, l.Cut)
	}
}

func TestLogThatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	if _, err := ReadLog(io.MultiReader(strings.NewReader(unauthorized), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkReadLog reads a megabyte of a kubelet's log.
func BenchmarkReadLog(b *testing.B) {
	text := logOf(5500, unauthorized)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ReadLog(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
