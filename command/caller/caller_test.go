package caller

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"rollcall/shared/awsconf"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
	"rollcall/tools/testfile"
)

// home is a person's folder with a file of profiles, and nothing else of this machine.
func home(t *testing.T, profiles string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS",
		"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CA_BUNDLE", "KUBECONFIG",
	} {
		t.Setenv(name, "") // put back at the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", dir)
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // of the SDK's own calls for credentials
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(dir, "none"))
	put(t, filepath.Join(dir, "config"), profiles)
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, []byte(text))
}

func load(t *testing.T, o Options) (Caller, error) {
	t.Helper()
	return Load(t.Context(), o, slog.New(slog.DiscardHandler), &awsconf.Calls{})
}

const keys = "aws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = SECRET\n"

// identities answer as AWS STS does: who the caller is, by the access key that signed, and
// the keys of a role.
func identities(t *testing.T, refusal string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/xml")
		switch {
		case refusal != "" && !strings.Contains(string(body), "Action="+strings.SplitN(refusal, " ", 2)[0]):
		case refusal != "":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `<ErrorResponse><Error><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`, strings.SplitN(refusal, " ", 2)[1])
			return
		}
		if strings.Contains(string(body), "Action=AssumeRole") {
			if strings.Contains(string(body), "SerialNumber=") && (!strings.Contains(string(body), "TokenCode=123456") || !strings.Contains(string(body), "DurationSeconds=3600")) {
				t.Errorf("a session of a device was asked for by %s", body)
			}
			fmt.Fprint(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>AKIDROLE</AccessKeyId><SecretAccessKey>S</SecretAccessKey>`+
				`<SessionToken>T</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
			return
		}
		arn := "arn:aws:iam::111122223333:user/oncall"
		if strings.Contains(r.Header.Get("Authorization"), "AKIDROLE") {
			arn = "arn:aws:sts::444455556666:assumed-role/reader/oncall"
		}
		fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>%s</Arn><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, arn, strings.Split(arn, ":")[4])
	}))
	t.Cleanup(s.Close)
	return s
}

// Profiles, roles, regions and endpoints are as the AWS CLI has them, and the command
// line goes first.
func TestWhoCalls(t *testing.T) {
	at := identities(t, "").URL
	home(t, "[default]\nregion = us-west-2\nendpoint_url = "+at+"\n"+keys+
		"[profile role]\nregion = eu-west-1\nendpoint_url = "+at+"\nrole_arn = arn:aws:iam::444455556666:role/reader\nsource_profile = default\n"+
		"[profile bare]\n"+keys)
	for name, tt := range map[string]struct {
		o                    Options
		env                  map[string]string
		account, region, url string
	}{
		"the default profile":               {Options{}, nil, "111122223333", "us-west-2", at},
		"a region of the command line":      {Options{Region: "us-east-1"}, nil, "111122223333", "us-east-1", at},
		"a role":                            {Options{Profile: "role"}, map[string]string{"AWS_ENDPOINT_URL_STS": at}, "444455556666", "eu-west-1", at},
		"a profile of the environment":      {Options{}, map[string]string{"AWS_PROFILE": "role", "AWS_ENDPOINT_URL_STS": at}, "444455556666", "eu-west-1", at},
		"the command line goes first":       {Options{Profile: "default"}, map[string]string{"AWS_PROFILE": "role"}, "111122223333", "us-west-2", at},
		"an endpoint of the command line":   {Options{Profile: "bare", Region: "us-west-2", Endpoint: at}, nil, "111122223333", "us-west-2", at},
		"an endpoint of the environment":    {Options{Profile: "bare"}, map[string]string{"AWS_ENDPOINT_URL": at, "AWS_REGION": "ap-south-1"}, "111122223333", "ap-south-1", at},
		"the command line before that, too": {Options{Profile: "bare", Endpoint: at}, map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "ap-south-1"}, "111122223333", "ap-south-1", at},
		"keys of the environment, no files": {Options{}, map[string]string{"AWS_CONFIG_FILE": "/dev/null", "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S", "AWS_ENDPOINT_URL": at, "AWS_REGION": "us-west-2"}, "111122223333", "us-west-2", at},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			c, err := load(t, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.account, tt.region, tt.url}, []string{c.Account, c.AWS.Region, *c.AWS.BaseEndpoint}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A profile with an MFA device asks for its code where a person can be asked, once an hour; a
// sentence says what to do where none can, and what STS says of a wrong one is printed.
func TestMFA(t *testing.T) {
	const profiles = "[default]\n" + keys + "[profile mfa]\nregion = us-west-2\nrole_arn = arn:aws:iam::444455556666:role/reader\nsource_profile = default\nmfa_serial = arn:aws:iam::111122223333:mfa/you\n"
	for name, tt := range map[string]struct {
		ask     awsconf.Ask
		refusal string
		says    string
	}{
		"typed":      {func(context.Context, string) (string, error) { return "123456", nil }, "", ""},
		"wrong":      {func(context.Context, string) (string, error) { return "000000", nil }, "AssumeRole AccessDenied", "profile mfa gives no credentials: STS:AssumeRole: AccessDenied (no)"},
		"nobody":     {nil, "", `the profile asks for a code of the MFA device arn:aws:iam::111122223333:mfa/you, and there is no terminal to ask for it: take a session first (eval "$(aws configure export-credentials --profile NAME --format env)"), and run this without the profile`},
		"given none": {func(context.Context, string) (string, error) { return "", errors.New("no code was given") }, "", "no code was given"},
	} {
		t.Run(name, func(t *testing.T) {
			home(t, profiles)
			at := identities(t, tt.refusal)
			t.Setenv("AWS_ENDPOINT_URL_STS", at.URL)
			c, err := load(t, Options{Profile: "mfa", MFA: tt.ask})
			if tt.says == "" {
				if err != nil || c.Account != "444455556666" {
					t.Errorf("account %s, %v", c.Account, err)
				}
				return
			}
			var m Mistake
			if err == nil || !strings.Contains(err.Error(), tt.says) || !errors.As(err, &m) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q on one line", err, tt.says)
			}
		})
	}
}

// What is wrong with the credentials is one line that says what to do. The caller can
// mend it (a Mistake), or AWS cannot be reached.
func TestWhatIsWrongWithTheCaller(t *testing.T) {
	shut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-ErrorType", "UnauthorizedException")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message": "Session token not found or invalid"}`)
	}))
	defer shut.Close()
	well, denied := identities(t, "").URL, identities(t, "AssumeRole AccessDenied").URL
	for name, tt := range map[string]struct {
		profiles string
		o        Options
		says     string
		mistake  bool
	}{
		"no profile of that name": {"[default]\n" + keys, Options{Profile: "ops"}, "there is no profile ops in ", true},
		"no region":               {"[default]\n" + keys, Options{}, "no region: set --region, AWS_REGION or the profile's region", true},
		"no credentials":          {"[default]\nregion = us-west-2\n", Options{}, "no AWS credentials found: sign in with aws sso login or aws configure, or name a profile with --profile or AWS_PROFILE", true},
		"SSO never begun": {"[profile sso]\nregion = us-west-2\nsso_session = corp\nsso_account_id = 111122223333\nsso_role_name = reader\n[sso-session corp]\nsso_region = us-west-2\nsso_start_url = https://corp.awsapps.com/start\n",
			Options{Profile: "sso"}, "the SSO session of profile sso has expired, or was never begun: aws sso login --profile sso", true},
		"an expired SSO session": {"[profile old]\nregion = us-west-2\nsso_session = old\nsso_account_id = 111122223333\nsso_role_name = reader\n[sso-session old]\nsso_region = us-west-2\nsso_start_url = https://corp.awsapps.com/start\n",
			Options{Profile: "old"}, "the SSO session of profile old has expired, or was never begun: aws sso login --profile old", true},
		"a role that is denied": {"[default]\nregion = us-west-2\n" + keys + "[profile role]\nregion = us-west-2\nrole_arn = arn:aws:iam::444455556666:role/reader\nsource_profile = default\n",
			Options{Profile: "role"}, "profile role gives no credentials: STS:AssumeRole: AccessDenied (no)", true},
		"expired":         {"[default]\nregion = us-west-2\nendpoint_url = " + identities(t, "GetCallerIdentity ExpiredToken").URL + "\n" + keys, Options{}, "the credentials of profile default have expired: log in again", true},
		"an unknown key":  {"[default]\nregion = us-west-2\nendpoint_url = " + identities(t, "GetCallerIdentity InvalidClientTokenId").URL + "\n" + keys, Options{}, "AWS does not know the credentials of profile default (InvalidClientTokenId), or not in region us-west-2", true},
		"a wrong secret":  {"[default]\nregion = us-west-2\nendpoint_url = " + identities(t, "GetCallerIdentity SignatureDoesNotMatch").URL + "\n" + keys, Options{}, "the secret key of profile default is not that of its access key (SignatureDoesNotMatch), or this machine's clock is wrong", true},
		"something else":  {"[default]\nregion = us-west-2\nendpoint_url = " + identities(t, "GetCallerIdentity Weather").URL + "\n" + keys, Options{}, "ask AWS whose the credentials are: Weather: ", false},
		"nobody listens":  {"[default]\nregion = us-west-2\n" + keys, Options{Endpoint: "http://127.0.0.1:1"}, "AWS cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused", false},
		"no such region":  {"[default]\nregion = us-wst-2\n" + keys, Options{Endpoint: "http://sts.us-wst-2.invalid"}, "sts.us-wst-2.invalid does not resolve: is us-wst-2 a region, or the endpoint right, and is there a network?", true},
		"half a file":     {"[default\n", Options{}, "", true},
		"no kubeconfig":   {"[default]\nregion = us-west-2\nendpoint_url = " + well + "\n" + keys, Options{Kubeconfig: "/nonexistent/kubeconfig"}, "the kubeconfig: stat /nonexistent/kubeconfig: no such file or directory", true},
		"no such context": {"[default]\nregion = us-west-2\nendpoint_url = " + well + "\n" + keys, Options{Context: "prod"}, `the kubeconfig: context "prod" does not exist`, true},
		"a role beyond a network": {"[default]\nregion = us-west-2\n" + keys + "[profile role]\nregion = us-west-2\nrole_arn = arn:aws:iam::444455556666:role/reader\nsource_profile = default\n",
			Options{Profile: "role"}, "AWS cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused", false},
		"SSO of before sessions": {"[profile legacy]\nregion = us-west-2\nsso_region = us-west-2\nsso_start_url = https://corp.awsapps.com/start\nsso_account_id = 111122223333\nsso_role_name = reader\n",
			Options{Profile: "legacy"}, "the SSO session of profile legacy has expired, or was never begun: aws sso login --profile legacy", true},
		"SSO that gives no keys": {"[profile shut]\nregion = us-west-2\nsso_session = old\nsso_account_id = 111122223333\nsso_role_name = reader\n[sso-session old]\nsso_region = us-west-2\nsso_start_url = https://corp.awsapps.com/start\n",
			Options{Profile: "shut"}, "the SSO session of profile shut gives no credentials (UnauthorizedException): aws sso login --profile shut", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := home(t, tt.profiles)
			switch name {
			case "an expired SSO session", "SSO that gives no keys":
				until := map[bool]string{true: "2020-01-01T00:00:00Z", false: "2099-01-01T00:00:00Z"}[name == "an expired SSO session"]
				sum := sha1.Sum([]byte("old")) // as the AWS CLI names the file
				put(t, filepath.Join(dir, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json"), `{"accessToken": "x", "expiresAt": "`+until+`"}`)
				t.Setenv("AWS_ENDPOINT_URL_SSO", shut.URL)
			case "a role that is denied":
				t.Setenv("AWS_ENDPOINT_URL_STS", denied)
			case "a role beyond a network":
				t.Setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1")
			}
			_, err := load(t, tt.o)
			var m Mistake
			if name == "no credentials" && err != nil && err.Error() != tt.says {
				t.Errorf("error %q, want no more than %q", err, tt.says) // it had the places that have none, too
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.says) || errors.As(err, &m) != tt.mistake || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v (mistake %v), want %q (%v) on one line", err, errors.As(err, &m), tt.says, tt.mistake)
			}
		})
	}
}

// Whoever gives up gets no other text.
func TestGivenUp(t *testing.T) {
	home(t, "[default]\nregion = us-west-2\nendpoint_url = "+identities(t, "").URL+"\n"+keys)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, Options{}, slog.New(slog.DiscardHandler), &awsconf.Calls{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was given up", err)
	}
}

// Each code of STS that the caller can do something about is reported in its words, with the
// profile that counts; what has no type of its own by its innermost error.
func TestWhatSTSSays(t *testing.T) {
	home(t, "")
	api := func(code string) error {
		return fmt.Errorf("operation: %w", &smithy.GenericAPIError{Code: code, Message: "no"})
	}
	for _, tt := range []struct {
		err     error
		env     string
		says    string
		mistake bool
	}{
		{api("ExpiredToken"), "AWS_PROFILE", "the credentials of profile ops have expired: log in again", true},
		{api("ExpiredTokenException"), "AWS_DEFAULT_PROFILE", "the credentials of profile ops have expired: log in again", true},
		{api("InvalidClientTokenId"), "", "AWS does not know the credentials of profile default (InvalidClientTokenId), or not in region us-west-2", true},
		{api("UnrecognizedClientException"), "", "AWS does not know the credentials of profile default (UnrecognizedClientException), or not in region us-west-2", true},
		{api("AuthFailure"), "", "AWS does not know the credentials of profile default (AuthFailure), or not in region us-west-2", true},
		{api("IncompleteSignature"), "", "the secret key of profile default is not that of its access key (IncompleteSignature), or this machine's clock is wrong", true},
		{fmt.Errorf("send: %w", fmt.Errorf("again: %w", errors.New("x509: unknown authority"))), "", "AWS cannot be reached: x509: unknown authority", false},
	} {
		t.Run(tt.says, func(t *testing.T) {
			if tt.env != "" {
				t.Setenv(tt.env, "ops")
			}
			err := ofIdentity(t.Context(), tt.err, "us-west-2", profileOf(Options{}))
			var m Mistake
			if err == nil || err.Error() != tt.says || errors.As(err, &m) != tt.mistake {
				t.Errorf("error %v, want %q", err, tt.says)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ofIdentity(ctx, api("ExpiredToken"), "us-west-2", "ops"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was given up", err)
	}
}

// No more clusters are described at once than EKS likes.
func TestClustersAreDescribedSomeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := crowded{most: new(atomic.Int32), now: new(atomic.Int32)}
		if _, err := (Caller{}).Clusters(t.Context(), c, strings.Split("a b c d e f g h i j k l", " "), false); err != nil {
			t.Fatal(err)
		}
		if got := c.most.Load(); got != parallel {
			t.Errorf("%d at once, want %d", got, parallel)
		}
	})
}

// crowded is EKS that takes a second for each cluster.
type crowded struct{ most, now *atomic.Int32 }

func (c crowded) Clusters(context.Context) ([]string, *snapshot.Failure) { return nil, nil }

func (c crowded) Read(context.Context, gather.Query) (*snapshot.Snapshot, error) {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for old := c.most.Load(); n > old && !c.most.CompareAndSwap(old, n); old = c.most.Load() {
	}
	time.Sleep(time.Second)
	return &snapshot.Snapshot{}, nil
}

// region is EKS with some clusters.
type region struct {
	names  []string
	failed *snapshot.Failure
}

func (r region) Clusters(context.Context) ([]string, *snapshot.Failure) { return r.names, r.failed }

func (r region) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	for _, name := range r.names {
		if name == q.Cluster {
			return &snapshot.Snapshot{Cluster: snapshot.Cluster{Name: name, Endpoint: "https://" + name + ".invalid"}}, nil
		}
	}
	return nil, fmt.Errorf("cluster %s: %w", q.Cluster, gather.ErrNoCluster)
}

// A cluster that is not there is reported with those that are, near ones first.
func TestWhichClusters(t *testing.T) {
	c := Caller{Account: "111122223333"}
	c.AWS.Region = "us-west-2"
	denied := &snapshot.Failure{Call: "eks:ListClusters", Reason: snapshot.Denied, Code: "AccessDeniedException", Message: "no"}
	many := region{names: strings.Split("a1 b2 c3 d4 e5 f6 g7 h8 i9 j10 k11 l12", " ")}
	for name, tt := range map[string]struct {
		in      region
		names   []string
		all     bool
		found   string
		says    string
		mistake bool
	}{
		"one":                  {region{names: []string{"prod", "dev"}}, []string{"dev"}, false, "dev", "", false},
		"two, in their order":  {region{names: []string{"prod", "dev"}}, []string{"dev", "prod"}, false, "dev prod", "", false},
		"all":                  {region{names: []string{"prod", "dev"}}, nil, true, "prod dev", "", false},
		"a slip":               {region{names: []string{"prod", "dev", "prod-eu"}}, []string{"prdo"}, false, "", "there is no cluster prdo in us-west-2 of account 111122223333; is it prod?", true},
		"a part":               {region{names: []string{"team-prod-eu", "dev"}}, []string{"prod"}, false, "", "there is no cluster prod in us-west-2 of account 111122223333; is it team-prod-eu?", true},
		"nothing near":         {region{names: []string{"staging", "dev"}}, []string{"prod"}, false, "", "there is no cluster prod in us-west-2 of account 111122223333, only staging, dev", true},
		"nothing near of many": {many, []string{"production"}, false, "", "there is no cluster production in us-west-2 of account 111122223333, only a1, b2, c3, d4, e5, f6, g7, h8, i9, j10 and 2 more", true},
		"as many as are named": {region{names: many.names[:10]}, []string{"production"}, false, "", "there is no cluster production in us-west-2 of account 111122223333, only a1, b2, c3, d4, e5, f6, g7, h8, i9, j10", true},
		"three slips":          {region{names: []string{"axyz"}}, []string{"abcd"}, false, "", "there is no cluster abcd in us-west-2 of account 111122223333, only axyz", true},
		"a slip and a part":    {region{names: []string{"prod1"}}, []string{"prod"}, false, "", "there is no cluster prod in us-west-2 of account 111122223333; is it prod1?", true},
		"a part of three":      {region{names: []string{"team-dev-long"}}, []string{"dev"}, false, "", "there is no cluster dev in us-west-2 of account 111122223333; is it team-dev-long?", true},
		"a part too short":     {region{names: []string{"team-dev-long"}}, []string{"de"}, false, "", "there is no cluster de in us-west-2 of account 111122223333, only team-dev-long", true},
		"two near":             {region{names: []string{"team-prod-b", "team-prod-a"}}, []string{"prod"}, false, "", "there is no cluster prod in us-west-2 of account 111122223333; is it team-prod-a or team-prod-b?", true},
		"none there":           {region{}, []string{"prod"}, false, "", "there is no cluster prod in us-west-2 of account 111122223333, nor any other: --region names another region", true},
		"none to list":         {region{}, nil, true, "", "there is no cluster in us-west-2 of account 111122223333", true},
		"may not list":         {region{failed: denied}, nil, true, "", "the clusters cannot be listed: eks:ListClusters denied (AccessDeniedException: no)", false},
		"may not list near":    {region{failed: denied}, []string{"prod"}, false, "", "there is no cluster prod in us-west-2 of account 111122223333", true},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := c.Clusters(t.Context(), tt.in, tt.names, tt.all)
			var got []string
			for _, k := range list {
				got = append(got, k.Name)
			}
			var m Mistake
			switch {
			case tt.says == "":
				if err != nil || strings.Join(got, " ") != tt.found {
					t.Errorf("found %q, %v, want %q", got, err, tt.found)
				}
			case err == nil || err.Error() != tt.says || errors.As(err, &m) != tt.mistake:
				t.Errorf("error %v (mistake %v), want %q (%v)", err, errors.As(err, &m), tt.says, tt.mistake)
			}
		})
	}
}

// apiServer takes one token, and keeps what came.
func apiServer(t *testing.T) (s *httptest.Server, ca []byte, came *[]string) {
	t.Helper()
	came = new([]string)
	s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*came = append(*came, r.URL.Path+" "+r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") != "Bearer mine" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	return s, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), came
}

func kubeconfigOf(server string, ca []byte, user string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters:\n- name: c\n  cluster: {server: %q, certificate-authority-data: %s}\ncontexts:\n- name: here\n  context: {cluster: c, user: u}\n- name: there\n  context: {cluster: c, user: u}\nusers:\n- name: u\n  user: %s\n",
		server, base64.StdEncoding.EncodeToString(ca), user)
}

// A context is taken if it is of the cluster that is looked at, with credentials of
// its own in place of the AWS token.
func TestContexts(t *testing.T) {
	s, ca, came := apiServer(t)
	otherCA := []byte("of another cluster")
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	put(t, caFile, string(ca))
	const token = "{token: mine}"
	for name, tt := range map[string]struct {
		config  string
		context string
		of      snapshot.Cluster
		says    string
	}{
		"the cluster's own":                   {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca}, ""},
		"a context by its name":               {kubeconfigOf(s.URL, ca, token), "there", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca}, ""},
		"the endpoint in capitals":            {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: strings.ToUpper(s.URL)}, ""},
		"behind a tunnel, the same CA":        {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com", CA: ca}, ""},
		"a cluster that may not be described": {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod"}, ""},
		"of another cluster": {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com", CA: otherCA},
			"context here is of another cluster: it goes to " + s.URL + ", and prod is at https://ABC.gr7.us-west-2.eks.amazonaws.com"},
		"of another cluster, by name": {kubeconfigOf(s.URL, ca, token), "there", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com", CA: otherCA}, "context there is of another cluster: "},
		"another port":                {kubeconfigOf(s.URL, ca, token), "", snapshot.Cluster{Name: "prod", Endpoint: "https://127.0.0.1"}, "context here is of another cluster: "},
		"no authority on either side": {strings.Replace(kubeconfigOf(s.URL, nil, token), "certificate-authority-data: ", "insecure-skip-tls-verify: true", 1), "", snapshot.Cluster{Name: "prod", Endpoint: "https://ABC.gr7.us-west-2.eks.amazonaws.com"}, "context here is of another cluster: "},
		"an authority in a file":      {strings.Replace(kubeconfigOf(s.URL, nil, token), "certificate-authority-data: ", "certificate-authority: "+caFile, 1), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL}, ""},
		"that of the cluster itself":  {strings.Replace(kubeconfigOf(s.URL, nil, token), "certificate-authority-data: ", "insecure-skip-tls-verify: true", 1), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca}, ""},
		"a command that is not there": {kubeconfigOf(s.URL, ca, "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /nonexistent/aws}}"), "", snapshot.Cluster{Name: "prod", Endpoint: s.URL, CA: ca},
			"context here: getting credentials: exec: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			put(t, path, tt.config)
			k, err := loadKubeconfig(Options{Kubeconfig: path, Context: tt.context})
			if err != nil {
				t.Fatal(err)
			}
			*came = nil
			servers, err := Caller{kube: k}.APIServers(t.Context(), []snapshot.Cluster{tt.of})
			if tt.says != "" {
				var m Mistake
				if err == nil || !strings.HasPrefix(err.Error(), tt.says) || !errors.As(err, &m) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				return
			}
			d := servers["prod"]
			if err != nil || d.Endpoint != s.URL || string(d.CA) != string(ca) {
				t.Fatalf("API server %+v, %v", d, err)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.Endpoint+"/nodes", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer of AWS")
			resp, err := d.Transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := req.Header.Get("Authorization"); got != "Bearer of AWS" {
				t.Errorf("the request itself has %q now", got)
			}
			if got := strings.Join(*came, ", "); got != "/version Bearer mine, /nodes Bearer mine" {
				t.Errorf("sent %q, want both with the kubeconfig's token", got)
			}
		})
	}
}

// Without a context the way is the one that EKS tells; where EKS tells nothing the reader
// says why.
func TestWaysThatEKSTells(t *testing.T) {
	s, ca, _ := apiServer(t)
	servers, err := Caller{}.APIServers(t.Context(), []snapshot.Cluster{{Name: "new"}, {Name: "odd", Endpoint: s.URL, CA: []byte("no certificate")}, {Name: "prod", Endpoint: s.URL, CA: ca}})
	if err != nil || len(servers) != 1 || (Caller{}).ByContext() {
		t.Fatalf("servers %+v, %v, want that of prod alone", servers, err)
	}
	if via, ok := servers["prod"].Transport.(*http.Transport); !ok || via.Proxy == nil {
		t.Error("the way is not by the environment's proxy")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, servers["prod"].Endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := servers["prod"].Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("answered %d, want that nobody is known without a token", resp.StatusCode)
	}
}

func TestOneContextIsOfOneCluster(t *testing.T) {
	s, ca, _ := apiServer(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	put(t, path, kubeconfigOf(s.URL, ca, "{token: mine}"))
	k, err := loadKubeconfig(Options{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Caller{kube: k}.APIServers(t.Context(), []snapshot.Cluster{{Name: "prod"}, {Name: "dev"}})
	if !(Caller{kube: k}).ByContext() || err == nil || err.Error() != "a context of a kubeconfig is of one cluster, and 2 are asked for" {
		t.Errorf("error %v", err)
	}
}

// Two addresses are one host's whatever their capitals and whether or not the port of
// https stands in them.
func TestSameHost(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"https://ABC.eks.amazonaws.com", "https://abc.eks.amazonaws.com:443/", true},
		{"https://abc.eks.amazonaws.com", "https://abc.eks.amazonaws.com:8443", false},
		{"https://abc.eks.amazonaws.com", "https://abd.eks.amazonaws.com", false},
		{"https://127.0.0.1:7001", "https://127.0.0.1:7002", false},
		{"://x", "://y", false},
	} {
		if got := sameHost(tt.a, tt.b); got != tt.same {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

// An authority that cannot be read is the kubeconfig's fault.
func TestAuthorityThatIsNotThere(t *testing.T) {
	k := kubeconfig{"here", &rest.Config{Host: "https://x.invalid", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nonexistent/ca.pem"}}}
	_, err := k.apiServer(t.Context(), snapshot.Cluster{Name: "prod"})
	if want := "context here: its certificate authority: open /nonexistent/ca.pem: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
