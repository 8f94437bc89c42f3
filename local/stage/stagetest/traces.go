package stagetest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Traces are what runs did, by their names: all of the first, and of each other
// one the lines that it has more (+) or less (-) than the first.
type Traces []txtar.File

// Add adds the lines of a run.
func (r *Traces) Add(name, trace string) {
	if len(*r) > 0 {
		trace = changes(strings.SplitAfter(string((*r)[0].Data), "\n"), strings.SplitAfter(trace, "\n"))
	}
	*r = append(*r, txtar.File{Name: name, Data: []byte(trace)})
}

// changes is how b differs from a, by their longest common subsequence.
func changes(a, b []string) string {
	common := make([][]int, len(a)+1) // of what is left from i and j on
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			from := i
			for i < len(a) && (j == len(b) || a[i] != b[j] && common[i+1][j] >= common[i][j+1]) {
				i++
			}
			out.WriteString("- " + a[from])
			if i-from > 2 {
				fmt.Fprintf(&out, "  … %d lines\n", i-from-2)
			}
			if i-from > 1 {
				out.WriteString("- " + a[i-1])
			}
		default:
			out.WriteString("+ " + b[j])
			j++
		}
	}
	return out.String()
}

// Golden holds what each run did against a file, which UPDATE=1 in the environment
// writes anew.
func (r Traces) Golden(t testing.TB, path string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, txtar.Format(&txtar.Archive{Files: r}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	byName := func(files []txtar.File) map[string][]string {
		m := map[string][]string{}
		for _, f := range files {
			m[f.Name] = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
		return m
	}
	if diff := cmp.Diff(byName(archive.Files), byName(r)); diff != "" {
		t.Errorf("%s (-want +got; UPDATE=1 writes it anew):\n%s", path, diff)
	}
}
