package diagnose

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/diagnose/caller"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/local/testfull"
	"rollcall/shared/kube"
)

// served is a world behind real ports, as the AWS CLI would find it, and what the
// command line needs to get there.
func served(t *testing.T, world string) (s *stage.Stage, at time.Time) {
	t.Helper()
	file, err := worldfile.Load(world)
	if err != nil {
		t.Fatal(err)
	}
	at = file.Time.Add(settled)
	s, err = stage.Start(t.Context(), stage.Options{
		World: world, At: at, Quiet: true, Rate: standstill, Unlimited: true, Template: filepath.Join(here(t), "..", "..", "infra", "Rollcall.template.json"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, at
}

// logIn makes the environment one of a person with a profile and nothing else.
func logIn(t *testing.T, s *stage.Stage) {
	t.Helper()
	env := s.AdminEnv()
	profiles(t, fmt.Sprintf("[profile stage]\nregion = %s\nendpoint_url = %s\naws_access_key_id = %s\naws_secret_access_key = %s\n",
		env["AWS_REGION"], env["AWS_ENDPOINT_URL"], env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]))
	t.Setenv("AWS_PROFILE", "stage")
}

// profiles writes the file of profiles, and takes all else of this machine away.
func profiles(t *testing.T, text string) {
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

// TestLive is the command as a person types it, against a world with a blackhole behind
// real ports: a profile's endpoint, EKS's own way to Kubernetes or a kubeconfig's.
func TestLive(t *testing.T) {
	s, at := served(t, filepath.Join(here(t), "..", "worlds", "route-blackhole.yaml"))
	logIn(t, s)
	endpoint, ca, _ := s.Cloud.Kubernetes(cluster)
	context := filepath.Join(t.TempDir(), "kubeconfig")
	token, err := kube.Token(t.Context(), sts.NewPresignClient(sts.NewFromConfig(s.AsAdmin())), cluster)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := func(server string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]\ncontexts: [{name: here, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: %s}}]\n",
			server, base64.StdEncoding.EncodeToString(ca), token)
	}
	if err := os.WriteFile(context, []byte(kubeconfig(endpoint)), 0o600); err != nil {
		t.Fatal(err)
	}
	admin := s.AdminEnv()
	const cause, clean = "FAULT eks-workshop / new_nodegroup_2 · ", "eks-workshop: every instance that should be a node is one"
	for name, tt := range map[string]struct {
		args   string
		env    map[string]string
		status int
		says   string // in what is printed, or the whole of what is wrong
	}{
		"a cluster":                       {"--cluster eks-workshop", nil, 1, cause},
		"all clusters":                    {"--all-clusters", nil, 1, cause},
		"a profile of the command line":   {"--cluster eks-workshop --profile stage", map[string]string{"AWS_PROFILE": "other"}, 1, cause},
		"an endpoint of the command line": {"--cluster eks-workshop --region us-west-2 --endpoint-url " + admin["AWS_ENDPOINT_URL"], map[string]string{"AWS_CONFIG_FILE": "/dev/null", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": admin["AWS_ACCESS_KEY_ID"], "AWS_SECRET_ACCESS_KEY": admin["AWS_SECRET_ACCESS_KEY"]}, 1, cause},
		"a context":                       {"--cluster eks-workshop --context here", map[string]string{"KUBECONFIG": context}, 1, cause},
		"a kubeconfig":                    {"--cluster eks-workshop --kubeconfig " + context, nil, 1, cause},
		"what is not known, once":         {"--cluster eks-workshop", nil, 1, "\nNot known here\n  how launches of the last weeks went"},
		"a nodegroup in trouble":          {"--cluster eks-workshop --nodegroup new_nodegroup_2", nil, 1, cause},
		"a nodegroup that is well":        {"--cluster eks-workshop --nodegroup default", nil, 0, clean},
		"an instance in trouble":          {"--instance i-0edc34101ff3f6985", nil, 1, cause},
		"of another cluster":              {"--instance i-0edc34101ff3f6985 --cluster prod", nil, 64, "rollcall: i-0edc34101ff3f6985 is of cluster eks-workshop, by its tags\n"},
		"no such cluster":                 {"--cluster eks-workshp", nil, 64, "rollcall: there is no cluster eks-workshp in us-west-2 of account 111122223333; is it eks-workshop?\n"},
		"no such nodegroup":               {"--cluster eks-workshop --nodegroup defalt", nil, 64, "rollcall: eks-workshop has no nodegroup, NodePool or group defalt, only "},
		"no such instance":                {"--instance i-0123456789abcdef0", nil, 64, "rollcall: EC2 shows no instance i-0123456789abcdef0 in us-west-2 of account 111122223333\n"},
		"no such profile":                 {"--cluster eks-workshop --profile ops", nil, 64, "rollcall: there is no profile ops in "},
		"no such context":                 {"--cluster eks-workshop --context there", map[string]string{"KUBECONFIG": context}, 64, "rollcall: the kubeconfig: context \"there\" does not exist\n"},
		"nobody listens":                  {"--cluster eks-workshop --endpoint-url http://127.0.0.1:1", nil, 2, "rollcall: AWS cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused\n"},
		"no credentials":                  {"--cluster eks-workshop --region us-west-2", map[string]string{"AWS_PROFILE": "", "AWS_CONFIG_FILE": "/dev/null"}, 64, "rollcall: there are no AWS credentials: "},
		"watched until all have joined":   {"--cluster eks-workshop --nodegroup default --watch", nil, 0, "  eks-workshop: all have joined\n"},
		"a page of many looks":            {"--cluster eks-workshop --html x.html --watch", nil, 64, "rollcall: --html and --watch: a page is of one look\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			var out, errs bytes.Buffer
			status := command(append([]string{"diagnose", "--at", at.Format(time.RFC3339)}, strings.Fields(tt.args)...), &out, &errs)
			if status != tt.status {
				t.Fatalf("status %d, want %d\n%s%s", status, tt.status, out.String(), errs.String())
			}
			wrong := strings.HasPrefix(tt.says, "rollcall: ")
			if wrong && (!strings.HasPrefix(errs.String(), tt.says) || strings.Count(errs.String(), "\n") != 1 || out.Len() > 0) || !wrong && (!strings.Contains(out.String(), tt.says) || errs.Len() > 0) {
				t.Errorf("prints %q, %q, want %q", out.String(), errs.String(), tt.says)
			}
		})
	}
	t.Run("as JSON", func(t *testing.T) {
		var out, errs bytes.Buffer
		if status := command([]string{"diagnose", "--json", "--at", at.Format(time.RFC3339), "--cluster", cluster}, &out, &errs); status != 1 || errs.Len() > 0 {
			t.Errorf("status %d, %s", status, errs.String())
		}
		valid(t, out.Bytes())
		if r := result(t, out.Bytes()); len(r.Notes) != 1 || first(r) != "route/blackhole certain" {
			t.Errorf("notes %q, first %q", r.Notes, first(r))
		}
	})
	t.Run("a context of another cluster", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "kubeconfig")
		ca = []byte("of another")
		if err := os.WriteFile(other, []byte(kubeconfig("https://other.invalid")), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		status := command([]string{"diagnose", "--cluster", cluster, "--kubeconfig", other}, &out, &errs)
		if want := "rollcall: context here is of another cluster: it goes to https://other.invalid, and eks-workshop is at " + endpoint + "\n"; status != 64 || errs.String() != want {
			t.Errorf("status %d, %q, want %q", status, errs.String(), want)
		}
	})
}

// What is refused is named with the permission that it takes, and nothing is taken for
// well that nobody could look at.
func TestLiveNamesWhatIsRefused(t *testing.T) {
	s, at := served(t, filepath.Join(here(t), "..", "worlds", "denied-route-tables.yaml"))
	logIn(t, s)
	var out, errs bytes.Buffer
	status := command([]string{"diagnose", "--at", at.Format(time.RFC3339), "--cluster", cluster}, &out, &errs)
	if status != 2 || !strings.Contains(out.String(), "ec2:DescribeRouteTables: denied (UnauthorizedOperation") {
		t.Errorf("status %d, want the permission named:\n%s%s", status, out.String(), errs.String())
	}
}

// TestLiveAsTheFunctions: over the worlds of the corpus, each behind real ports, the
// command says the same as the functions: the first cause, and all causes. In make test
// each thirtieth world is played, of most families of checks one: that the two ways go
// through the same engine shows in any of them.
func TestLiveAsTheFunctions(t *testing.T) {
	worlds, err := filepath.Glob(filepath.Join(here(t), "..", "worlds", "corpus", "*.yaml"))
	if err != nil || len(worlds) < 300 {
		t.Fatalf("%d worlds, %v", len(worlds), err)
	}
	step := testfull.Of(1, 30)
	for i := 0; i < len(worlds); i += step {
		name := strings.TrimSuffix(filepath.Base(worlds[i]), ".yaml")
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if status := command([]string{"diagnose", "--json", worlds[i]}, &out, &errs); status == badStatus {
				if name == "unseen" { // a list, no world
					return
				}
				t.Fatal(errs.String())
			}
			want := result(t, out.Bytes())
			s, at := served(t, worlds[i])
			logIn(t, s)
			got := lookedAt(t, s, options{at: at, live: liveOptions{all: true}})
			if diff := cmp.Diff(causesOf(want), causesOf(got)); diff != "" || want.Healthy != got.Healthy {
				t.Errorf("(-functions +live), healthy %v and %v:\n%s\nlive: %+v", want.Healthy, got.Healthy, diff, got.Unknown)
			}
		})
	}
}

// lookedAt is what is said of the stage as it is. Worlds of the corpus tell endpoints
// of clusters as AWS has them: what is there instead the stage knows.
func lookedAt(t *testing.T, s *stage.Stage, o options) Result {
	t.Helper()
	a := o.account(io.Discard)
	if err := a.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.clusters {
		if endpoint, ca, ok := s.Cloud.Kubernetes(c.Name); ok {
			via, err := kube.Transport(ca)
			if err != nil {
				t.Fatal(err)
			}
			a.doors[c.Name] = caller.Door{Endpoint: endpoint, CA: ca, Via: via}
		}
	}
	r, _, err := a.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A cluster that cannot be reached, or that does not know the caller, is told as that;
// what AWS alone tells is told all the same.
func TestLiveWithoutKubernetes(t *testing.T) {
	s, at := served(t, filepath.Join(here(t), "..", "worlds", "route-blackhole.yaml"))
	logIn(t, s)
	stranger := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"kind": "Status", "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}`)
	}))
	defer stranger.Close()
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: stranger.Certificate().Raw})
	for name, tt := range map[string]struct{ endpoint, unknown, note string }{
		"nobody answers":  {"https://127.0.0.1:1", "kubernetes: list nodes: unreachable (no connection)", ""},
		"nobody knows us": {stranger.URL, "kubernetes: list nodes: denied (Unauthorized: Unauthorized)", "what Kubernetes has of eks-workshop: it does not know arn:aws:iam::111122223333:user/"},
	} {
		t.Run(name, func(t *testing.T) {
			via, err := kube.Transport(ca)
			if err != nil {
				t.Fatal(err)
			}
			o := options{at: at, live: liveOptions{clusters: []string{cluster}}}
			a := o.account(io.Discard)
			if err := a.open(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.doors[cluster] = caller.Door{Endpoint: tt.endpoint, CA: ca, Via: via}
			r, _, err := a.look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.status() != causesStatus || !strings.HasPrefix(first(r), "route/blackhole") || !slices.ContainsFunc(r.Unknown, func(u Unknown) bool { return u.Check == "node/not-registered" && u.Reason == tt.unknown }) {
				t.Errorf("status %d, first %s, unknown %+v, want %q", r.status(), first(r), r.Unknown, tt.unknown)
			}
			if got := strings.Join(r.Notes[1:], "\n"); !strings.HasPrefix(got, tt.note) || tt.note == "" && got != "" {
				t.Errorf("notes %q, want %q", got, tt.note)
			}
		})
	}
}

func result(t *testing.T, printed []byte) Result {
	t.Helper()
	var r Result
	if err := json.Unmarshal(printed, &r); err != nil {
		t.Fatalf("%v in %q", err, printed)
	}
	return r
}

// causesOf are the first cause, and all others in any order.
func causesOf(r Result) []string {
	var all []string
	for _, i := range r.Incidents {
		all = append(all, strings.Join([]string{i.Cause, i.Confidence, i.Cluster, strings.Join(i.Instances, " ")}, " / "))
	}
	if len(all) > 1 {
		slices.Sort(all[1:])
	}
	return all
}
