package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/infra/access"
	"rollcall/infra/settings"
	"rollcall/tools/testfile"
)

// clusters answers as EKS does: by name.
type clusters map[string]func() (*ekstypes.Cluster, error)

func (c clusters) DescribeCluster(_ context.Context, in *eks.DescribeClusterInput, _ ...func(*eks.Options)) (*eks.DescribeClusterOutput, error) {
	f, ok := c[*in.Name]
	if !ok {
		return nil, fmt.Errorf("operation error EKS: DescribeCluster, %w", &ekstypes.ResourceNotFoundException{})
	}
	cluster, err := f()
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: cluster}, nil
}

func (clusters) DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error) {
	return nil, &ekstypes.ResourceNotFoundException{}
}

// admitting has access entries of the reader, by cluster, with their tags.
type admitting struct {
	clusters
	tags map[string]map[string]string
}

const reader = "arn:aws:iam::111122223333:role/rollcall-reader-us-west-2"

func (a admitting) DescribeAccessEntry(_ context.Context, in *eks.DescribeAccessEntryInput, _ ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error) {
	tags, there := a.tags[*in.ClusterName]
	switch {
	case *in.PrincipalArn != reader || *in.ClusterName == "shut":
		return nil, errors.New("AccessDeniedException")
	case !there:
		return nil, fmt.Errorf("operation error EKS: DescribeAccessEntry, %w", &ekstypes.ResourceNotFoundException{})
	}
	return &eks.DescribeAccessEntryOutput{AccessEntry: &ekstypes.AccessEntry{Tags: tags}}, nil
}

// An access entry that the stack would make beside one made by hand rolls the stack back: it
// is refused with the command, and what could not be read is reported.
func TestEntriesMadeByHand(t *testing.T) {
	api := admitting{clusters{}, map[string]map[string]string{"hand": nil, "other": {"team": "a"}, "ours": {"Application": "Rollcall", "team": "a"}, "old": nil}}
	for _, name := range []string{"hand", "other", "ours", "none", "shut"} {
		api.clusters[name] = mode(ekstypes.AuthenticationModeApi)
	}
	api.clusters["old"] = mode(ekstypes.AuthenticationModeConfigMap)
	f := look(t.Context(), api, []string{"hand", "none", "old", "other", "ours", "shut"}, reader)
	err := f.byHandError("us-west-2", reader)
	want := "the stack makes the access entry of Rollcall's reader in hand, other, and one was made there by hand: EKS refuses the second, and the whole stack would roll back." +
		" Delete it right before the deployment, or leave the cluster out of CLUSTERS and accessClusters:" +
		"\n  aws eks delete-access-entry --region us-west-2 --cluster-name hand --principal-arn " + reader + "\n  aws eks delete-access-entry --region us-west-2 --cluster-name other --principal-arn " + reader
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if says := f.words("us-west-2"); !strings.Contains(says, "shut: whether Rollcall's reader has an access entry there that was made by hand is not known (eks:DescribeAccessEntry: AccessDeniedException)") || !strings.Contains(says, "name kubernetesAccess=policy in SET to keep them") {
		t.Errorf("said %q", says)
	}
	if err := look(t.Context(), api, []string{"hand"}, "").byHandError("us-west-2", ""); err != nil {
		t.Errorf("of an account that is not known: %v", err)
	}
}

func mode(m ekstypes.AuthenticationMode) func() (*ekstypes.Cluster, error) {
	return func() (*ekstypes.Cluster, error) {
		return &ekstypes.Cluster{AccessConfig: &ekstypes.AccessConfigResponse{AuthenticationMode: m}}, nil
	}
}

func TestModes(t *testing.T) {
	denied := errors.New("api error AccessDeniedException: not authorized to perform: eks:DescribeCluster")
	api := clusters{
		"new": mode(ekstypes.AuthenticationModeApi), "both": mode(ekstypes.AuthenticationModeApiAndConfigMap), "old": mode(ekstypes.AuthenticationModeConfigMap),
		"older":  func() (*ekstypes.Cluster, error) { return &ekstypes.Cluster{}, nil },
		"shut":   func() (*ekstypes.Cluster, error) { return nil, denied },
		"hollow": func() (*ekstypes.Cluster, error) { return nil, nil },
	}
	names := []string{"both", "gone", "hollow", "new", "old", "older", "shut"}
	f := look(t.Context(), api, names, reader)
	if diff := cmp.Diff([]string{"old", "older"}, f.ConfigMap); diff != "" {
		t.Errorf("CONFIG_MAP (-want +got):\n%s", diff)
	}
	if got, want := f.context([]string{"given", "old"}), "-c configMapClusters=given,old,older\n"; got != want {
		t.Errorf("context: got %q, want %q", got, want)
	}
	if err := f.missingError("us-west-2"); err == nil || !strings.Contains(err.Error(), "EKS has no cluster gone in us-west-2") {
		t.Errorf("missing: %v", err)
	}
	words := f.words("us-west-2")
	for _, want := range []string{
		"old: authentication mode CONFIG_MAP. EKS refuses access entries there, so the stack makes none.", "output AwsAuthRoles under mapRoles",
		"aws eks update-cluster-config --region us-west-2 --name old --access-config authenticationMode=API_AND_CONFIG_MAP",
		"shut: its authentication mode is not known (eks:DescribeCluster: " + denied.Error(), "add configMapClusters=shut to SET",
		"hollow: its authentication mode is not known",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said in:\n%s", want, words)
		}
	}
	if strings.Contains(words, "new:") || strings.Contains(words, "both:") {
		t.Errorf("something is said of clusters that take access entries:\n%s", words)
	}
}

// Where all is well nothing is said, and nothing is added.
func TestNothingToSay(t *testing.T) {
	f := look(t.Context(), clusters{"new": mode(ekstypes.AuthenticationModeApi)}, []string{"new"}, reader)
	if f.words("r") != "" || f.context(nil) != "" || f.missingError("r") != nil {
		t.Errorf("got %+v", f)
	}
}

// counting tells how many questions were under way at once.
type counting struct {
	clusters
	lock      sync.Mutex
	now, most int
}

func (c *counting) DescribeCluster(ctx context.Context, in *eks.DescribeClusterInput, o ...func(*eks.Options)) (*eks.DescribeClusterOutput, error) {
	c.lock.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.lock.Unlock()
	defer func() { c.lock.Lock(); c.now--; c.lock.Unlock() }()
	return c.clusters.DescribeCluster(ctx, in, o...)
}

func TestClustersAreAskedAFewAtATime(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint("c", i))
	}
	api := &counting{}
	if got := len(look(t.Context(), api, names, reader).Missing); got != 100 || api.most > access.AtOnce {
		t.Errorf("%d answers, %d at once", got, api.most)
	}
}

// Only those are asked for in which an entry would be made.
func TestEntries(t *testing.T) {
	for _, test := range []struct {
		context map[string]any
		want    []string
	}{
		{map[string]any{}, nil},
		{map[string]any{"clusters": "b,a"}, []string{"a", "b"}},
		{map[string]any{"clusters": "a", "kubernetesAccess": "none"}, nil},
		{map[string]any{"clusters": "a", "accessClusters": "c"}, []string{"c"}},
	} {
		test.context["slackChannel"] = "C0123456789"
		chosen, err := settings.Parse(test.context)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, entries(chosen)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.context, diff)
		}
	}
}

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
	testfile.Write(t, file, []byte(text))
}

// server answers as STS (query protocol, XML) and EKS (REST, JSON) do.
func server(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/api/access-entries/"):
			// The stack's entry, as kubernetesAccess=policy makes it: in no group.
			fmt.Fprintf(w, `{"accessEntry":{"clusterName":"api","kubernetesGroups":[],"tags":{%q:%q}}}`, settings.TagKey, settings.TagValue)
			return
		case strings.Contains(r.URL.Path, "/grouped/access-entries/"):
			fmt.Fprintf(w, `{"accessEntry":{"clusterName":"grouped","kubernetesGroups":["rollcall"],"tags":{%q:%q}}}`, settings.TagKey, settings.TagValue)
			return
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
		{"no credentials", map[string]string{"AWS_REGION": "us-west-2"}, "", 200, whoami, "no AWS credentials found in the environment, in ~/.aws or of this machine's role: sign in (aws sso login, or aws configure), or name a profile (AWS_PROFILE=name make deploy …)"},
		{"half of a key", map[string]string{"AWS_REGION": "us-west-2", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}, "", 200, whoami, "no AWS credentials found"},
		{"no region", with("AWS_REGION", ""), "", 200, whoami, "no region is set, and the profile names none (AWS_REGION=us-west-2 make deploy …)"},
		{"no such profile", with("AWS_PROFILE", "prdo"), "[profile prod]\nregion=us-west-2\n", 200, whoami, "AWS_PROFILE=prdo: there is no such profile"},
		{"a profile without credentials", map[string]string{"AWS_PROFILE": "prod"}, "[profile prod]\nregion=us-west-2\n", 200, whoami, "no AWS credentials found"},
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

// What could not be read is reported, and is no reason to stop: the CDK
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
		{"deploy", "config_map,api_and_config_map", "-c configMapClusters=config_map\n"},
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

// TestWayChanges: where the stack reads by access policies and SET does not name the way, a
// deployment would take its rights away until a ClusterRole is applied: make asks.
func TestWayChanges(t *testing.T) {
	person(t, server(t, 200, whoami), with())
	const asks = "the deployed stack reads in api by EKS access policies, and the default of kubernetesAccess is group."
	for _, test := range []struct{ target, clusters, set, refused, said string }{
		{"deploy", "api", "", asks, ""},
		{"diff", "api", "", "", "make deploy would stop: " + asks},
		{"deploy", "api", "kubernetesAccess=group", "", ""},
		{"deploy", "api", "kubernetesAccess=policy", "", ""},
		{"deploy", "api", "kubernetesAccess=none", "", ""},
		{"deploy", "grouped", "", "", ""},
		{"deploy", "api_and_config_map", "", "", ""}, // no entry: a new deployment
		{"deploy", "all", "", "", ""},
		{"destroy", "api", "", "", ""},
	} {
		line := settings.Line{Context: []string{"slackChannel=C0123456789", "clusters=" + test.clusters}}
		if test.set != "" {
			line.Context = append(line.Context, test.set)
		}
		var out, say bytes.Buffer
		err := run(t.Context(), test.target, line, os.Getenv, &out, &say)
		if (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%+v: %v", test, err)
		}
		if strings.Contains(say.String(), asks) != (test.said != "") || !strings.Contains(say.String(), test.said) {
			t.Errorf("%+v: said %q", test, say.String())
		}
	}
}

func parsed(t *testing.T, context map[string]any) settings.Settings {
	t.Helper()
	context["slackChannel"] = "C0123456789"
	chosen, err := settings.Parse(context)
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

// What a region does not have is named with the way around, and only where it is wanted.
func TestLacking(t *testing.T) {
	for _, test := range []struct{ region, actions, want string }{
		{"us-west-2", "on", ""},
		{"us-gov-west-1", "on", ""},
		{"cn-north-1", "off", ""},
		{"cn-northwest-1", "on", "Deploy with slackActions=off"},
		{"eu-central-2", "on", "watch eu-central-2 as its spoke"},
	} {
		got := strings.Join(lacking(test.region, parsed(t, map[string]any{"slackActions": test.actions})), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, slackActions=%s: %q, want %q", test.region, test.actions, got, test.want)
		}
		if strings.HasPrefix(test.region, "cn-") && strings.Contains(got, "as its spoke") {
			t.Errorf("%s is to be a spoke of another partition: %s", test.region, got)
		}
	}
}

func TestSpokesOfAnotherPartition(t *testing.T) {
	chosen := parsed(t, map[string]any{"spokes": "222233334444/cn-north-1,222233334444/eu-west-1", "externalId": "rollcall-7f3a9c"})
	for region, want := range map[string]string{
		"us-west-2":     "222233334444/cn-north-1 cannot be watched from us-west-2",
		"cn-north-1":    "222233334444/eu-west-1 cannot be watched from cn-north-1",
		"us-gov-west-1": "222233334444/cn-north-1, 222233334444/eu-west-1 cannot be watched from us-gov-west-1",
	} {
		if err := apart(region, chosen); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", region, err, want)
		}
	}
	if err := apart("us-west-2", parsed(t, map[string]any{"spokes": "222233334444/eu-west-1", "externalId": "rollcall-7f3a9c"})); err != nil {
		t.Error(err)
	}
}

// policies answers a page for each name.
type policies struct {
	names []string
	err   error
	asked int
}

func (p *policies) ListAccessPolicies(_ context.Context, in *eks.ListAccessPoliciesInput, _ ...func(*eks.Options)) (*eks.ListAccessPoliciesOutput, error) {
	if p.err != nil {
		return nil, p.err
	}
	out := &eks.ListAccessPoliciesOutput{}
	if p.asked < len(p.names) {
		out.AccessPolicies = []ekstypes.AccessPolicy{{Name: aws.String(p.names[p.asked])}}
	}
	if p.asked++; p.asked < len(p.names) {
		out.NextToken = aws.String("next")
	}
	return out, nil
}

func TestMissingPolicies(t *testing.T) {
	byPolicy := map[string]any{"accessClusters": "prod", "kubernetesAccess": "policy"}
	for name, test := range map[string]struct {
		there    policies
		settings map[string]any
		say, err string
		asked    int
	}{
		"both, on the second page":   {there: policies{names: []string{"AmazonAIOpsAssistantPolicy", "AmazonEKSViewPolicy"}}, settings: byPolicy, asked: 2},
		"one":                        {there: policies{names: []string{"AmazonEKSViewPolicy"}}, settings: byPolicy, err: "EKS in cn-north-1 has no access policy AmazonAIOpsAssistantPolicy (", asked: 1},
		"none":                       {settings: byPolicy, err: "no access policy AmazonAIOpsAssistantPolicy and no AmazonEKSViewPolicy", asked: 1},
		"not known":                  {there: policies{err: errors.New("AccessDeniedException")}, settings: byPolicy, say: "Not checked: whether EKS in cn-north-1 has"},
		"the stack makes no entries": {settings: map[string]any{"kubernetesAccess": "policy"}},
		"rights by a ClusterRole":    {settings: map[string]any{"accessClusters": "prod", "kubernetesAccess": "group"}},
	} {
		say, err := missingPolicies(t.Context(), &test.there, "cn-north-1", parsed(t, test.settings))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || !strings.HasPrefix(say, test.say) || (say == "") != (test.say == "") || test.there.asked != test.asked {
			t.Errorf("%s: %q, %v after %d questions", name, say, err, test.there.asked)
		}
	}
}

// invocations is an account's concurrency in Lambda, and what slack-actions has of it.
type invocations struct {
	unreserved, reserved int32
	err                  error
}

func (i invocations) GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput, ...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error) {
	return &lambda.GetAccountSettingsOutput{AccountLimit: &lambdatypes.AccountLimit{UnreservedConcurrentExecutions: aws.Int32(i.unreserved)}}, i.err
}

func (i invocations) GetFunctionConcurrency(_ context.Context, in *lambda.GetFunctionConcurrencyInput, _ ...func(*lambda.Options)) (*lambda.GetFunctionConcurrencyOutput, error) {
	if *in.FunctionName != "rollcall-slack-actions" || i.reserved == 0 {
		return nil, &lambdatypes.ResourceNotFoundException{}
	}
	return &lambda.GetFunctionConcurrencyOutput{ReservedConcurrentExecutions: &i.reserved}, nil
}

// Too little concurrency is refused before anything is built, also where the function has
// some already; where it could not be asked that is said.
func TestConcurrency(t *testing.T) {
	for name, tt := range map[string]struct {
		actions   string
		of        invocations
		say, want string
	}{
		"a new account":        {"on", invocations{unreserved: 10}, "", "slackActions=on reserves 10 concurrent executions, and Lambda in us-west-2 has 10 that are not reserved, of which 100 must stay so: the whole stack would roll back. Have the quota \"Concurrent executions\" of AWS Lambda raised by 100 or more first"},
		"one too few":          {"on", invocations{unreserved: 109}, "", "raised by 1 or more"},
		"just enough":          {"on", invocations{unreserved: 110}, "", ""},
		"an ordinary account":  {"on", invocations{unreserved: 1000}, "", ""},
		"an update":            {"on", invocations{unreserved: 100, reserved: 10}, "", ""},
		"half of it, by hand":  {"on", invocations{unreserved: 104, reserved: 5}, "", "raised by 1 or more"},
		"no buttons":           {"off", invocations{unreserved: 10}, "", ""},
		"it may not be looked": {"on", invocations{err: errors.New("AccessDeniedException")}, "Not checked: whether Lambda in us-west-2 has the concurrency that slackActions=on reserves (lambda:GetAccountSettings: AccessDeniedException)", ""},
	} {
		say, err := concurrency(t.Context(), tt.of, "us-west-2", parsed(t, map[string]any{"slackActions": tt.actions}))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || (say == "") != (tt.say == "") || !strings.Contains(say, tt.say) {
			t.Errorf("%s: said %q, %v; want %q, %q", name, say, err, tt.say, tt.want)
		}
	}
}
