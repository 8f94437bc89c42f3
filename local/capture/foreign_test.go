package capture

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A capture is somebody else's folder: nothing outside of it is read, nothing waits for a
// pipe, and no message quotes what a file holds.
func TestForeignFolder(t *testing.T) {
	const secret = "hvs.SECRETTOKEN-first-line-of-a-file"
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(`{"Vpcs": "`+secret+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(name, to string) func(string) error {
		return func(dir string) error { return os.Symlink(to, filepath.Join(dir, name)) }
	}
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	for name, x := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"time.txt is a link":           {link("time.txt", outside), "not a regular file"},
		"a file is a link":             {link("ec2-describe-vpcs.json", outside), "not a regular file"},
		"a link within the folder":     {link("ec2-describe-vpcs.json", "sts-get-caller-identity.json"), "not a regular file"},
		"a device":                     {link("event.json", os.DevNull), "not a regular file"},
		"a folder":                     {func(dir string) error { return os.Mkdir(filepath.Join(dir, "errors.json"), 0o700) }, "not a regular file"},
		"a pipe":                       {func(dir string) error { return fifo(filepath.Join(dir, "ec2-describe-vpcs.json")) }, "not a regular file"},
		"the time is something else":   {write("time.txt", secret), "the text is not a time"},
		"a value is something else":    {write("ec2-describe-vpcs.json", `{"Vpcs": "`+secret+`"}`), "want a list, got text"},
		"a number is something else":   {write("ec2-describe-vpcs.json", `{"Vpcs": 31337}`), "want a list, got a number"},
		"nothing but brackets":         {write("ec2-describe-vpcs.json", `{"Vpcs":[`+strings.Repeat("[],", maxNodes/2)+`[]]}`), "values"},
		"brackets in a text are well":  {write("ec2-describe-vpcs.json", `{"Vpcs":[{"VpcId":"`+strings.Repeat("[", 2*maxNodes)+`"}]}`), ""},
		"a link that nothing asks for": {link("notes.md", outside), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "pipe") && runtime.GOOS == "windows" {
				t.Skip("Windows has no pipes in folders")
			}
			dir := t.TempDir()
			for _, make := range []func(string) error{write("sts-get-caller-identity.json", `{"Account":"111122223333"}`), x.make} {
				if err := make(dir); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(dir, time.Now())
			switch {
			case x.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "31337")):
				t.Errorf("error %v, want %q", err, x.want)
			}
		})
	}
}
