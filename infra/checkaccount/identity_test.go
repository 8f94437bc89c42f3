package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/infra/settings"
)

// person is an operator's environment: nothing of this machine is in it.
func person(t *testing.T, endpoint string, vars map[string]string) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	for name, value := range vars {
		t.Setenv(name, value)
	}
	return home
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// server answers as STS (query protocol, XML) and EKS (REST, JSON) do.
func server(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/access-entries/"):
			w.Header().Set("X-Amzn-ErrorType", "ResourceNotFoundException")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"The specified principalArn could not be found."}`)
			return
		case strings.HasPrefix(r.URL.Path, "/clusters/"):
			fmt.Fprintf(w, `{"cluster":{"name":"x","accessConfig":{"authenticationMode":%q}}}`, strings.ToUpper(strings.TrimPrefix(r.URL.Path, "/clusters/")))
			return
		}
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const whoami = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/you</Arn><UserId>AIDA</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`

func refusal(code, message string) string {
	return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>` + code + `</Code><Message>` + message + `</Message></Error></ErrorResponse>`
}

var keys = map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-west-2"}

func with(more ...string) map[string]string {
	all := map[string]string{}
	for k, v := range keys {
		all[k] = v
	}
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

func TestRefusedBeforeAnythingIsBuilt(t *testing.T) {
	line := settings.Line{Context: []string{"slackChannel=C0123456789"}}
	for _, test := range []struct {
		name   string
		vars   map[string]string
		config string
		status int
		body   string
		want   string
	}{
		{"no credentials", map[string]string{"AWS_REGION": "us-west-2"}, "", 200, whoami, "there are no AWS credentials: none in the environment, in ~/.aws or of this machine's role (AWS_PROFILE=name make deploy …, or aws configure)"},
		{"half of a key", map[string]string{"AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}, "", 200, whoami, "there are no AWS credentials"},
		{"no region", with("AWS_REGION", ""), "", 200, whoami, "no region is set, and the profile names none (AWS_REGION=us-west-2 make deploy …)"},
		{"no such profile", with("AWS_PROFILE", "prdo"), "[profile prod]\nregion=us-west-2\n", 200, whoami, "AWS_PROFILE=prdo: there is no such profile"},
		{"a profile without credentials", map[string]string{"AWS_PROFILE": "prod"}, "[profile prod]\nregion=us-west-2\n", 200, whoami, "there are no AWS credentials"},
		{"unknown key", with(), "", 403, refusal("InvalidClientTokenId", "The security token included in the request is invalid."), "AWS refuses these credentials: InvalidClientTokenId: The security token"},
		{"wrong secret", with(), "", 403, refusal("SignatureDoesNotMatch", "The request signature we calculated does not match"), "AWS refuses these credentials: SignatureDoesNotMatch"},
		{"expired session", with("AWS_PROFILE", "prod"), "[profile prod]\naws_access_key_id=AKIDEXAMPLE\naws_secret_access_key=x\n", 403, refusal("ExpiredToken", "The security token included in the request is expired"), "AWS refuses these credentials: ExpiredToken: The security token included in the request is expired (AWS_PROFILE=prod)"},
		{"a helper program that fails", map[string]string{"AWS_PROFILE": "prod", "AWS_REGION": "us-west-2"}, "[profile prod]\ncredential_process = false\n", 200, whoami, "the AWS credentials cannot be had: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := person(t, server(t, test.status, test.body), test.vars)
			write(t, filepath.Join(home, "config"), test.config)
			var out, say bytes.Buffer
			err := run(t.Context(), "deploy", line, os.Getenv, &out, &say)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q; said %q", err, test.want, say.String())
			}
			if out.Len() > 0 {
				t.Errorf("printed %q", out.String())
			}
		})
	}
}

// An SSO session that is over is said with the command that renews it.
func TestExpiredSSO(t *testing.T) {
	home := person(t, server(t, 200, whoami), map[string]string{"AWS_PROFILE": "prod"})
	write(t, filepath.Join(home, "config"), "[profile prod]\nregion=us-west-2\nsso_start_url=https://example.awsapps.com/start\nsso_region=us-west-2\nsso_account_id=123456789012\nsso_role_name=ops\n")
	var out, say bytes.Buffer
	err := run(t.Context(), "deploy", settings.Line{NoChannel: true}, os.Getenv, &out, &say)
	if err == nil || !strings.Contains(err.Error(), "the SSO session has expired or is invalid") || !strings.HasSuffix(err.Error(), "run aws sso login --profile prod") {
		t.Errorf("got %v", err)
	}
}

// What could not be looked at is said, and is no reason to stop: the CDK
// command line asks for an MFA code itself, and may know a way to STS.
func TestNotChecked(t *testing.T) {
	line := settings.Line{Context: []string{"slackChannel=C0123456789", "clusters=config_map"}}
	closed := httptest.NewServer(nil)
	closed.Close()
	t.Run("STS does not answer", func(t *testing.T) {
		person(t, closed.URL, with())
		var out, say bytes.Buffer
		if err := run(t.Context(), "deploy", line, os.Getenv, &out, &say); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Not checked: STS in us-west-2 could not be asked whose the credentials are", "config_map: its authentication mode is not known (eks:DescribeCluster: "} {
			if !strings.Contains(say.String(), want) {
				t.Errorf("%q is not said in %q", want, say.String())
			}
		}
	})
	t.Run("STS is throttled", func(t *testing.T) {
		person(t, server(t, 429, refusal("Throttling", "Rate exceeded")), with())
		var out, say bytes.Buffer
		if err := run(t.Context(), "deploy", line, os.Getenv, &out, &say); err != nil || !strings.Contains(say.String(), "Not checked: STS") {
			t.Errorf("got %v, said %q", err, say.String())
		}
	})
	t.Run("MFA", func(t *testing.T) {
		home := person(t, server(t, 200, whoami), map[string]string{"AWS_PROFILE": "prod"})
		write(t, filepath.Join(home, "config"), "[profile prod]\nregion=us-west-2\nrole_arn=arn:aws:iam::123456789012:role/deploy\nsource_profile=base\nmfa_serial=arn:aws:iam::123456789012:mfa/you\n"+
			"[profile base]\naws_access_key_id=AKIDEXAMPLE\naws_secret_access_key=x\n")
		var out, say bytes.Buffer
		if err := run(t.Context(), "deploy", settings.Line{NoChannel: true}, os.Getenv, &out, &say); err != nil || !strings.Contains(say.String(), "Not checked: the profile asks for an MFA code; with a session from before all is checked: eval ") {
			t.Errorf("got %v, said %q", err, say.String())
		}
		// Which account would be bootstrapped is not known.
		if err := run(t.Context(), "bootstrap", settings.Line{NoChannel: true}, os.Getenv, &out, &say); err == nil || !strings.Contains(err.Error(), "and AWS_PROFILE unset; the account to bootstrap is not known") {
			t.Errorf("bootstrap: %v", err)
		}
	})
}

func TestWhatMakeIsGiven(t *testing.T) {
	person(t, server(t, 200, whoami), with())
	for _, test := range []struct{ target, clusters, want string }{
		{"bootstrap", "all", "aws://123456789012/us-west-2\n"},
		{"deploy", "all", ""},
		{"deploy", "api,config_map,api_and_config_map", "-c configMapClusters=config_map\n"},
		{"diff", "config_map", "-c configMapClusters=config_map\n"},
		{"destroy", "config_map", ""},
	} {
		var out, say bytes.Buffer
		if err := run(t.Context(), test.target, settings.Line{Context: []string{"slackChannel=C0123456789", "clusters=" + test.clusters}}, os.Getenv, &out, &say); err != nil {
			t.Errorf("%s: %v", test.target, err)
		}
		if out.String() != test.want {
			t.Errorf("%s %s: printed %q, want %q", test.target, test.clusters, out.String(), test.want)
		}
		if want := test.target + ": account 123456789012, us-west-2, as arn:aws:iam::123456789012:user/you\n"; !strings.HasPrefix(say.String(), want) {
			t.Errorf("said %q, want %q", say.String(), want)
		}
	}
}
