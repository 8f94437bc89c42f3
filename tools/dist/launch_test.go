package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/tools/testfile"
)

// TestLaunchStep: the workflow's step, by the AWS CLI, puts each function where the template looks
// for it and the templates after them, in each region, and nothing of a release whose sums are
// wrong.
func TestLaunchStep(t *testing.T) {
	if _, err := exec.LookPath("aws"); err != nil {
		t.Skip("the AWS CLI is not installed")
	}
	t.Chdir("../..")
	step := workflowStep(t, "release", "copy the release into a bucket of each region")
	programs := []member{{name: "sweep/bootstrap", data: []byte("sweep"), exec: true}, {name: "report/bootstrap", data: []byte("report"), exec: true}}
	members, err := deployment(".", programs, "", at)
	if err != nil {
		t.Fatal(err)
	}
	tampered := slices.Clone(members)
	tampered[0].data = append([]byte("x"), tampered[0].data...)
	for name, tt := range map[string]struct {
		members []member
		last    bool // whether the release's own sums are right
		want    []string
	}{
		"a release": {members, true, []string{
			"/acme-eu-west-1/rollcall/v1.2.3/RollcallRelay.template.json", "/acme-eu-west-1/rollcall/v1.2.3/RollcallSpoke.template.json", "/acme-eu-west-1/rollcall/v1.2.3/RollcallStandard.template.json",
			"/acme-eu-west-1/rollcall/v1.2.3/report.zip", "/acme-eu-west-1/rollcall/v1.2.3/sweep.zip",
			"/acme-us-east-1/rollcall/v1.2.3/RollcallRelay.template.json", "/acme-us-east-1/rollcall/v1.2.3/RollcallSpoke.template.json", "/acme-us-east-1/rollcall/v1.2.3/RollcallStandard.template.json",
			"/acme-us-east-1/rollcall/v1.2.3/report.zip", "/acme-us-east-1/rollcall/v1.2.3/sweep.zip",
		}},
		"a function was changed":   {tampered, true, nil},
		"the archive was replaced": {members, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			release := filepath.Join(work, "release")
			if err := os.Mkdir(release, 0o755); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := writeTarGzip(&b, tt.members, at); err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, filepath.Join(release, "rollcall-functions_1.2.3_linux_arm64.tar.gz"), b.Bytes())
			if err := writeSums(release); err != nil {
				t.Fatal(err)
			}
			if !tt.last {
				testfile.Write(t, filepath.Join(release, "rollcall-functions_1.2.3_linux_arm64.tar.gz"), append(b.Bytes(), 0))
			}
			s3 := &bucket{objects: map[string][]byte{}}
			server := httptest.NewServer(s3)
			defer server.Close()
			c := exec.Command("bash", "-e", "-c", step)
			c.Dir, c.Env = work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, "AWS_ENDPOINT_URL=" + server.URL, "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=x",
				"AWS_EC2_METADATA_DISABLED=true", "GITHUB_REF_NAME=v1.2.3", "LAUNCH_BUCKET=acme", "LAUNCH_REGIONS=eu-west-1 us-east-1"}
			out, err := c.CombinedOutput()
			if (err == nil) != (tt.want != nil) {
				t.Errorf("%v\n%s", err, out)
			}
			if diff := cmp.Diff(tt.want, s3.keys()); diff != "" {
				t.Errorf("objects (-want +got):\n%s\n%s", diff, out)
			}
			for _, m := range tt.members {
				if key := "/acme-eu-west-1/rollcall/v1.2.3/" + filepath.Base(m.name); tt.want != nil && slices.Contains(tt.want, key) && !bytes.Contains(s3.objects[key], m.data) {
					t.Errorf("%s is not what the release has", key)
				}
			}
		})
	}
}

// bucket takes objects as S3 does: the AWS CLI may send one in chunks, with checksums between.
type bucket struct {
	lock    sync.Mutex
	objects map[string][]byte
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPut {
		http.Error(w, fmt.Sprint(r.Method, err), http.StatusBadRequest)
		return
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	b.objects[r.URL.Path] = data
}

func (b *bucket) keys() []string {
	var list []string
	for key := range b.objects {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}
