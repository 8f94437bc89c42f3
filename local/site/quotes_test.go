package site

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rollcall/shared/lambda"
)

// Each message that the page of troubles quotes is one of the program's: a part between
// two … stands in the code as it stands on the page. Slack's own codes do, too.
func TestTroublesQuoteTheCode(t *testing.T) {
	raw, err := os.ReadFile(docs + "troubleshoot.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, folder := range []string{"shared", "functions", "infra", "local"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	code := source.String()
	quoted := 0
	for _, heading := range regexp.MustCompile("(?m)^### .*$").FindAllString(string(raw), -1) {
		for _, quote := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(heading, -1) {
			quoted++
			for _, part := range strings.Split(quote[1], "…") {
				if part = strings.TrimSpace(part); len(part) > 2 && !strings.Contains(code, part) {
					t.Errorf("docs/troubleshoot.md quotes %q, and no code says %q", quote[1], part)
				}
			}
		}
	}
	if quoted < 30 {
		t.Errorf("%d quotes: this test looks for the wrong thing", quoted)
	}
}

// Every metric that is written stands on its page.
func TestMetricsAreTold(t *testing.T) {
	page, err := os.ReadFile(docs + "metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, pattern := range []string{"functions/*/*/*.go", "shared/lambda/metrics.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?i)gauge\("(\w+)"`).FindAllStringSubmatch(string(text), -1) {
				found++
				if !strings.Contains(string(page), "`"+m[1]+"`") {
					t.Errorf("docs/metrics.md does not tell of %s (%s)", m[1], file)
				}
			}
		}
	}
	for _, fault := range []string{"Failures", "Undelivered", "RemediesFailed", "NotPassedOn", "RefusedRequests", "StrayMessages", "TargetsUndelivered"} {
		if name, ok := lambda.Fault(fault); !ok || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/metrics.md does not tell of %s, or it is no metric", fault)
		}
	}
	if found < 8 {
		t.Errorf("%d metrics: this test looks for the wrong thing", found)
	}
}
