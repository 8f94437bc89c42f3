package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/local/callertest"
	"rollcall/local/diagnose"
	"rollcall/local/exit"
)

// The page of a world shows what was printed, and draws the way that ends.
func TestPage(t *testing.T) {
	for world, tt := range map[string]struct {
		status int
		words  []string
	}{
		"route-no-egress":          {exit.Causes, []string{"<h1>route-no-egress.yaml: 1 cause found</h1>", ">✗ EC2, ECR, S3, STS</text>", ">✓ the cluster API</text>", ">no route</text>", "aws ec2 create-route"}},
		"nacl-return-nat":          {exit.Causes, []string{">nat-0aa40000000000001</text>", ">✗ acl-0f70000000000000b</text>"}},
		"sg-node-egress":           {exit.Causes, []string{">✗ sg-0b60000000000000b</text>"}},
		"route-leaves-view":        {exit.Unsure, []string{"could not tell, something needed could not be read</h1>", "COULD NOT LOOK", ">? EC2, ECR, S3, STS</text>"}},
		"endpoint-missing-healthy": {exit.Healthy, []string{"every instance that should be a node is one", "<h2>Network paths</h2>", ">✓ "}},
	} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "page.html")
			var out, errs bytes.Buffer
			status := command([]string{"diagnose", "--html", file, "../worlds/corpus/" + world + ".yaml"}, &out, &errs)
			text, err := os.ReadFile(file)
			if status != tt.status || err != nil || errs.Len() > 0 {
				t.Fatalf("status %d, want %d; %v; %s", status, tt.status, err, errs.String())
			}
			for _, word := range tt.words {
				if !strings.Contains(string(text), word) {
					t.Errorf("the page has no %q", word)
				}
			}
		})
	}
}

// The page of a cluster that is there draws its network as that of a capture does.
func TestPageOfACluster(t *testing.T) {
	s, at := callertest.Serve(t, "../worlds/corpus/route-no-egress.yaml", diagnose.Settled)
	callertest.LogIn(t, s)
	file := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--cluster", "eks-workshop", "--at", at.Format(time.RFC3339), "--html", file}, &out, &errs)
	text, err := os.ReadFile(file)
	if status != exit.Causes || err != nil {
		t.Fatalf("status %d; %v; %s", status, err, errs.String())
	}
	for _, word := range []string{"<h1>eks-workshop: 1 cause found</h1>", ">✗ EC2, ECR, S3, STS</text>"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("the page has no %q", word)
		}
	}
}

// A page that cannot be written is the person's to mend.
func TestPageWithoutPlace(t *testing.T) {
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--html", filepath.Join(t.TempDir(), "none", "page.html"), "../worlds/corpus/route-no-egress.yaml"}, &out, &errs)
	if status != exit.BadInput || !strings.Contains(errs.String(), "--html ") || !strings.Contains(errs.String(), "no such file or directory") || out.Len() > 0 {
		t.Errorf("status %d, out %q, errors %q", status, out.String(), errs.String())
	}
}
