// Package callertest puts a world behind real ports, as the AWS CLI would find it, and
// makes a test's environment that of a person with a profile for it: for tests of what
// works with the caller's own credentials.
package callertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall"
	"rollcall/stage"
	"rollcall/stage/simaws/worldfile"
)

// standstill is the rate of the stage's clock: nothing may change while it is looked
// at; a rate of zero is not one.
const standstill = 1e-3

// Serve puts a world behind real ports, as the AWS CLI would find it, and what the
// command line needs to get there.
func Serve(t *testing.T, world string, after time.Duration) (s *stage.Stage, at time.Time) {
	t.Helper()
	file, err := worldfile.Load(world)
	if err != nil {
		t.Fatal(err)
	}
	at = file.Time.Add(after)
	s, err = stage.Start(t.Context(), stage.Options{
		World: world, At: at, Quiet: true, Rate: standstill, Unlimited: true, Template: "infra/Rollcall.template.json", Files: rollcall.Files(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, at
}

// LogIn makes the environment one of a person with a profile and nothing else.
func LogIn(t *testing.T, s *stage.Stage) {
	t.Helper()
	env := s.AdminEnv()
	Profiles(t, fmt.Sprintf("[profile stage]\nregion = %s\nendpoint_url = %s\naws_access_key_id = %s\naws_secret_access_key = %s\n",
		env["AWS_REGION"], env["AWS_ENDPOINT_URL"], env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]))
	t.Setenv("AWS_PROFILE", "stage")
}

// Profiles writes the file of profiles, and takes all else of this machine away.
func Profiles(t *testing.T, text string) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ENDPOINT_URL", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CA_BUNDLE", "KUBECONFIG",
	} {
		t.Setenv(name, "") // put back at the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "none"))
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	if err := os.WriteFile(filepath.Join(home, "config"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
