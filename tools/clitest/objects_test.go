//go:build cli

package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/stage"
)

// TestObjects: the AWS CLI makes, finds and fetches objects in the stage's bucket as in
// S3, and is told as there that one is there already, or is not.
func TestObjects(t *testing.T) {
	s, err := stage.Start(t.Context(), stage.Options{World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Rate: rate, Quiet: true})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	defer s.Close()
	dir, bucket := t.TempDir(), s.Template.S3Buckets[0].Name
	body := filepath.Join(dir, "body")
	if err := os.WriteFile(body, []byte("packed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ command, says string }{
		{"s3api head-bucket --bucket " + bucket, ""},
		{"s3api put-object --bucket " + bucket + " --key a/b.tar.gz --if-none-match * --server-side-encryption AES256 --body " + body, `"ServerSideEncryption": "AES256"`},
		{"s3api put-object --bucket " + bucket + " --key a/b.tar.gz --if-none-match * --body " + body, "(PreconditionFailed)"},
		{"s3api list-objects-v2 --bucket " + bucket + " --prefix a/ --query Contents[].Key", `"a/b.tar.gz"`},
		{"s3api get-object --bucket " + bucket + " --key a/b.tar.gz " + filepath.Join(dir, "got"), `"ContentLength": 6`},
		{"s3 cp s3://" + bucket + "/a/b.tar.gz " + filepath.Join(dir, "copy"), "download: s3://"},
		{"s3api get-object --bucket " + bucket + " --key none " + filepath.Join(dir, "none"), "(NoSuchKey)"},
		{"s3api head-object --bucket " + bucket + " --key none", "(404)"},
		{"s3api head-bucket --bucket another", "(404)"},
	} {
		c := exec.CommandContext(t.Context(), "aws", strings.Fields(step.command)...)
		for k, v := range s.AdminEnv() {
			c.Env = append(c.Env, k+"="+v)
		}
		c.Env = append(c.Env, "PATH="+os.Getenv("PATH"), "HOME="+dir, "AWS_EC2_METADATA_DISABLED=true")
		out, _ := c.CombinedOutput()
		if !strings.Contains(string(out), step.says) {
			t.Errorf("aws %s: %s, want %q", step.command, out, step.says)
		}
	}
	for _, name := range []string{"got", "copy"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != "packed" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
