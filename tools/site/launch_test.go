package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/tools/testfile"
)

// TestLaunch: the links are there only where a bucket is named and a release has filled it, and go
// away again.
func TestLaunch(t *testing.T) {
	for _, name := range launchPages() {
		page := string(testfile.Read(t, filepath.Join("..", "..", name)))
		none, err := launch(page, "", "v0.1.0", []string{"eu-west-1"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(none, "param_CodeBucket") {
			t.Errorf("%s has a link and no bucket is named", name)
		}
		if none, err := launch(page, "acme", "", []string{"eu-west-1"}); err != nil || strings.Contains(none, "param_CodeBucket") {
			t.Errorf("%s: %v: a link before the first release", name, err)
		}
		with, err := launch(none, "acme", "v0.1.0", []string{"eu-west-1", "us-east-1"})
		if err != nil || strings.Count(with, "param_CodeBucket") != 2 || !strings.Contains(with, "| us-east-1 | [Launch Stack](") {
			t.Errorf("%s: %v: no link in each region", name, err)
		}
		if again, err := launch(with, "", "", nil); err != nil || again != none {
			t.Errorf("%s: %v: the links do not go away", name, err)
		}
	}
	if _, err := launch("no place", "acme", "v0.1.0", nil); err == nil {
		t.Error("a page without a place for links was taken")
	}
}

func TestLaunchURL(t *testing.T) {
	u, err := url.Parse(launchURL("acme", "v0.1.0", "eu-west-1"))
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut(u.Fragment, "?")
	q, err := url.ParseQuery(query)
	if err != nil || u.Host != "eu-west-1.console.aws.amazon.com" || u.Path != "/cloudformation/home" || u.Query().Get("region") != "eu-west-1" || path != "/stacks/create/review" {
		t.Errorf("%v: %s", err, u)
	}
	for name, want := range map[string]string{
		"templateURL": "https://acme-eu-west-1.s3.eu-west-1.amazonaws.com/rollcall/v0.1.0/RollcallStandard.template.json",
		"stackName":   "Rollcall", "param_CodeBucket": "acme-eu-west-1", "param_CodePrefix": "rollcall/v0.1.0/",
	} {
		if q.Get(name) != want {
			t.Errorf("%s: %s, want %s", name, q.Get(name), want)
		}
	}
}
