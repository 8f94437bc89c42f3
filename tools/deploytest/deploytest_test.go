package deploytest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/awsconf"
	"rollcall/shared/config"
	"rollcall/shared/kube"
	"rollcall/stage"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
)

const (
	templateFile = "../../infra/Rollcall.template.json"
	worldFile    = "../../stage/worlds/route.yaml"
	cluster      = "eks-workshop"
	manifest     = "../../deploy/clusterrole.yaml"
)

// An old Go cannot read go.mod and names no version; make does.
func TestOldGo(t *testing.T) {
	for version, says := range map[string]string{
		"go1.22.5": "Go 1.26.0 or newer is needed, and this is Go 1.22.5: ", "go1.26rc1": "and this is Go 1.26rc1: ",
		"go1.26.0": "", "go1.31.2": "", "devel": "", "": "Go 1.26.0 or newer is needed, and there is none: ",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\necho go version "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "-n", "demo")
		cmd.Dir, cmd.Env = "../..", []string{"PATH=" + dir + ":/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		if (err != nil) != (says != "") || !strings.Contains(string(out), says) {
			t.Errorf("%q: %v, prints %q, want %q in it", version, err, out, says)
		}
	}
}

// TestPrebuilt: of an unpacked release nothing is deployed whose sum is missing or wrong, before
// AWS is asked for anything.
func TestPrebuilt(t *testing.T) {
	const refused, reached = "nothing was deployed", "asked for the account"
	bin := t.TempDir()
	testfile.Write(t, filepath.Join(bin, "go"), []byte("#!/bin/sh\ncase \"$*\" in version) echo go version go1.31.0;; *checkaccount*) echo "+reached+" >&2; exit 3;; esac\n"))
	if err := os.Chmod(filepath.Join(bin, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	good := sum("report") + "  functions/report.zip\n" + sum("{}") + "  RollcallSpoke.template.json\n"
	for name, tt := range map[string]struct{ sums, want string }{
		"as it was built":    {good, reached},
		"no sums":            {"", "has no SHA256SUMS: unpack the archive"},
		"a wrong sum":        {sum("other") + "  functions/report.zip\n", refused},
		"a missing file":     {good + sum("") + "  functions/sweep.zip\n", refused},
		"a broken line":      {good + "functions/report.zip\n", refused},
		"a function without": {sum("{}") + "  RollcallSpoke.template.json\n", "functions/report.zip is not in its SHA256SUMS: " + refused},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "functions"), 0o755); err != nil {
				t.Fatal(err)
			}
			testfile.Write(t, filepath.Join(dir, "functions", "report.zip"), []byte("report"))
			testfile.Write(t, filepath.Join(dir, "RollcallSpoke.template.json"), []byte("{}"))
			if tt.sums != "" {
				testfile.Write(t, filepath.Join(dir, "SHA256SUMS"), []byte(tt.sums))
			}
			for _, line := range []string{"deploy CHANNEL=C0123456789", "deploy-relay CLUSTER=prod BUCKET=b"} {
				cmd := exec.Command("make", append(strings.Fields(line), "PREBUILT="+dir)...)
				cmd.Dir, cmd.Env = "../..", []string{"PATH=" + bin + ":/usr/bin:/bin"}
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), tt.want) || tt.want != reached && strings.Contains(string(out), reached) {
					t.Errorf("make %s: %v, want %q in\n%s", line, err, tt.want, out)
				}
			}
		})
	}
}

// TestBuildsHaveAVersion: what make builds of a clone has the commit in it, for --version, the
// logs and a page (go help buildvcs). GOFLAGS switches that off for tests, whose cache would
// be void with each commit.
func TestBuildsHaveAVersion(t *testing.T) {
	for _, target := range []string{"build", "demo"} {
		cmd := exec.Command("make", "-n", target)
		cmd.Dir = "../.."
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(`go build [^\n]*-buildvcs=auto[^\n]* -o build/`).Match(out) {
			t.Errorf("make %s: %v, prints\n%s\nwant a go build with -buildvcs=auto", target, err, out)
		}
	}
}

// started is the route story's stage with a cluster in an authentication mode,
// and with something in aws-auth. No function runs in it.
func started(t *testing.T, mode ekstypes.AuthenticationMode, mapRoles func(account string) string) *stage.Stage {
	t.Helper()
	s, err := stage.Start(t.Context(), stage.Options{
		World: worldFile, Template: templateFile, Rights: manifest, Quiet: true,
		Change: func(f *worldfile.File) {
			for i := range f.EKS.Clusters {
				f.EKS.Clusters[i].AccessConfig = &ekstypes.AccessConfigResponse{AuthenticationMode: mode}
			}
			kubernetes := f.Kubernetes[cluster]
			kubernetes.ConfigMaps = []map[string]any{{
				"metadata": map[string]any{"name": "aws-auth", "namespace": "kube-system"},
				"data":     map[string]any{"mapRoles": mapRoles(f.Account)},
			}}
			f.Kubernetes[cluster] = kubernetes
		},
	})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// outputs are the template's.
func outputs(t *testing.T) map[string]struct{ Value any } {
	t.Helper()
	raw := testfile.Read(t, templateFile)
	var template struct {
		Outputs map[string]struct{ Value any }
	}
	testfile.Parse(t, raw, &template)
	return template.Outputs
}

// lines is the output AwsAuthRoles as the account shows it after a deployment.
func lines(t *testing.T, account string) string {
	t.Helper()
	var join struct {
		Parts []any `json:"Fn::Join"`
	}
	raw := testfile.JSON(t, outputs(t)["AwsAuthRoles"].Value)
	if err := json.Unmarshal(raw, &join); err != nil || len(join.Parts) != 2 {
		t.Fatalf("AwsAuthRoles is %s: %v", raw, err)
	}
	var b strings.Builder
	for _, part := range join.Parts[1].([]any) {
		switch p := part.(type) {
		case string:
			b.WriteString(p)
		case map[string]any:
			value, ok := map[any]string{"AWS::Partition": "aws", "AWS::AccountId": account, "AWS::Region": "us-west-2"}[p["Ref"]]
			if !ok {
				t.Fatalf("AwsAuthRoles refers to %v", p)
			}
			b.WriteString(value)
		}
	}
	return b.String()
}

// nodes lists the cluster's nodes as a function does: as the reader.
func nodes(t *testing.T, s *stage.Stage, function string) (int, error) {
	t.Helper()
	for _, f := range s.Template.Functions {
		if f.Name != function && !strings.HasSuffix(f.Name, "-"+function) {
			continue
		}
		token, err := kube.Token(t.Context(), sts.NewPresignClient(sts.NewFromConfig(awsconf.Assume(s.AsFunction(f), awsconf.Role{ARN: f.Environment[string(config.ReaderRole)], Session: f.Name}, time.Now))), cluster)
		if err != nil {
			t.Fatal(err)
		}
		endpoint, ca, ok := s.Cloud.Kubernetes(cluster)
		if !ok {
			t.Fatalf("%s has no Kubernetes API", cluster)
		}
		client, err := kube.New(endpoint, ca, token)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		list, err := client.Nodes(t.Context())
		return len(list), err
	}
	t.Fatalf("the stage has no function %s", function)
	return 0, nil
}

// In a cluster of mode CONFIG_MAP the lines that the stack prints, and the
// ClusterRole, let the functions read; without the lines they are unauthorized.
func TestConfigMapLines(t *testing.T) {
	s := started(t, ekstypes.AuthenticationModeConfigMap, func(account string) string { return lines(t, account) })
	for _, function := range []string{"join-check", "nodegroup-watch", "subnet-watch", "zone-watch", "sweep", "remediate", "spot-report"} {
		if n, err := nodes(t, s, function); err != nil || n == 0 {
			t.Errorf("%s: %d nodes, %v", function, n, err)
		}
	}
	s = started(t, ekstypes.AuthenticationModeConfigMap, func(string) string { return "" })
	_, err := nodes(t, s, "join-check")
	var refused *kube.StatusError
	if !errors.As(err, &refused) || refused.Code != 401 {
		t.Errorf("without the lines: %v", err)
	}
}

// byHand looks before a deployment while the cluster has the reader's entry of an operator,
// which EKS would have the stack's fail by; then the operator deletes it.
func byHand(t *testing.T, s *stage.Stage, program string) {
	t.Helper()
	role := "arn:aws:iam::" + s.Template.AccountID + ":role/rollcall-reader-" + s.Template.Region
	check := exec.Command(program, "-for", "deploy", "-c", "slackChannel=C0123456789", "-c", "clusters="+cluster)
	for name, value := range s.AdminEnv() {
		check.Env = append(check.Env, name+"="+value)
	}
	out, err := check.CombinedOutput()
	if want := "aws eks delete-access-entry --region " + s.Template.Region + " --cluster-name " + cluster + " --principal-arn " + role; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("beside an entry made by hand: %v, want %q in\n%s", err, want, out)
	}
	var used *ekstypes.ResourceInUseException
	if _, err := eks.NewFromConfig(s.AsAdmin()).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}); !errors.As(err, &used) {
		t.Errorf("a second entry: %v", err)
	}
	if _, err := eks.NewFromConfig(s.AsAdmin()).DeleteAccessEntry(t.Context(), &eks.DeleteAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: &role}); err != nil {
		t.Fatal(err)
	}
}

// EKS refuses what would roll the stack back, and the look before a deployment
// finds it: the program says it, and hands the cluster on to the synthesis.
func TestConfigMapClusterIsFoundBeforeTheDeployment(t *testing.T) {
	program := filepath.Join(t.TempDir(), "checkaccount")
	if out, err := exec.Command("go", "build", "-o", program, "rollcall/infra/checkaccount").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		mode       ekstypes.AuthenticationMode
		refused    bool
		want, said string
	}{
		{ekstypes.AuthenticationModeConfigMap, true, "-c configMapClusters=" + cluster + "\n", cluster + ": authentication mode CONFIG_MAP. EKS refuses access entries there"},
		{ekstypes.AuthenticationModeApiAndConfigMap, false, "", "deploy: account "},
		{ekstypes.AuthenticationModeApi, false, "", "deploy: account "},
	} {
		t.Run(string(test.mode), func(t *testing.T) {
			s := started(t, test.mode, func(string) string { return "" })
			_, err := eks.NewFromConfig(s.AsAdmin()).CreateAccessEntry(t.Context(), &eks.CreateAccessEntryInput{
				ClusterName: aws.String(cluster), PrincipalArn: aws.String("arn:aws:iam::111122223333:role/another"),
			})
			var invalid *ekstypes.InvalidRequestException
			if test.refused != errors.As(err, &invalid) || err != nil && !test.refused {
				t.Errorf("an access entry: %v", err)
			}
			check := exec.Command(program, "-for", "deploy", "-c", "slackChannel=C0123456789", "-c", "clusters="+cluster)
			if !test.refused {
				byHand(t, s, program)
			}
			check.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
			for name, value := range s.AdminEnv() {
				check.Env = append(check.Env, name+"="+value)
			}
			var said strings.Builder
			check.Stderr = &said
			out, err := check.Output()
			if err != nil || string(out) != test.want || !strings.Contains(said.String(), test.said) {
				t.Errorf("printed %q, want %q; said %q, want %q in it; %v", out, test.want, said.String(), test.said, err)
			}
			if test.refused == strings.Contains(said.String(), "CONFIG_MAP") {
				return
			}
			t.Errorf("CONFIG_MAP is said: %v", !test.refused)
		})
	}
	// A cluster that is not there would roll the stack back too.
	s := started(t, ekstypes.AuthenticationModeApi, func(string) string { return "" })
	check := exec.Command(program, "-for", "deploy", "-c", "slackChannel=C0123456789", "-c", "clusters=eks-workshp")
	for name, value := range s.AdminEnv() {
		check.Env = append(check.Env, name+"="+value)
	}
	out, err := check.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "EKS has no cluster eks-workshp in "+s.Template.Region) {
		t.Errorf("a misspelt cluster: %v\n%s", err, out)
	}
}

// link is a link or a picture of a page, heading a line that others link to.
var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	noWord  = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// anchors are the names by which GitHub links to a page's headings: in lower case, a
// hyphen for each space, without what is neither letter, digit, hyphen nor underscore.
func anchors(page string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := strings.ToLower(link.ReplaceAllString(m[1], ""))
		list = append(list, strings.ReplaceAll(noWord.ReplaceAllString(name, ""), " ", "-"))
	}
	return list
}

func TestAnchors(t *testing.T) {
	got := anchors("# Top\n## Where is the code that …\n```\n# none\n```\n## `policy`, and ip/no-space\n")
	if want := []string{"top", "where-is-the-code-that-", "policy-and-ipno-space"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A link of a page within the repository leads to a file that is there, and to a heading
// that it has.
func TestLinks(t *testing.T) {
	const root = "../.."
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/checks/*.md", "docs/checks/*/*.md", "events/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	count := 0
	for _, path := range pages {
		text := testfile.Read(t, path)
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			count++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if anchor == "" || filepath.Ext(to) != ".md" {
				continue
			}
			page := testfile.Read(t, to)
			if !slices.Contains(anchors(string(page)), anchor) {
				t.Errorf("%s links to %s, and %s has no such heading", path, m[1], to)
			}
		}
	}
	if count < 900 {
		t.Errorf("%d links: this test looks for the wrong thing", count)
	}
}

// pages are those whose commands a reader types to try, deploy and work on Rollcall.
func pages() []string {
	var list []string
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "docs/deploy.md", "docs/stories.md", "docs/functions.md", "docs/cleanup.md", "docs/events.md", "docs/stage.md", "docs/install.md", "docs/operate.md"} {
		list = append(list, "../../"+name)
	}
	return list
}

// commandsOf are the commands of a page: each line of a block without a
// language, a comment behind it left out, and what stands in the text between
// backquotes and begins with a program and a word for it.
func commandsOf(page string) []string {
	var commands []string
	block, language := false, ""
	for _, line := range strings.Split(strings.ReplaceAll(page, "\\\n", " "), "\n") {
		if mark, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			block, language = !block, mark
			continue
		}
		switch {
		case block && language == "":
			if command := begins.FindString(line); command != "" {
				commands = append(commands, strings.TrimSpace(comment.ReplaceAllString(line, "")))
			}
		case !block:
			for _, span := range inline.FindAllStringSubmatch(line, -1) {
				// "aws … describe-…" is a kind of command.
				if begins.MatchString(span[1]) && !strings.HasPrefix(span[1], "aws …") {
					commands = append(commands, span[1])
				}
			}
		}
	}
	return commands
}

var (
	begins  = regexp.MustCompile(`^(make|npm|npx|aws|kubectl|go|sh|bash|cdk|curl|git|\.ci/run)( |$)`)
	comment = regexp.MustCompile(`\s+#.*$`)
	inline  = regexp.MustCompile("`([^`]+)`")
)

func TestCommandsOf(t *testing.T) {
	page := "Run `make deploy CHANNEL=C0` and read `aws-auth`.\n\n```\nmake demo     # plays\naws lambda invoke --out \\\n  --payload '{}'\nevent.Parse → x\n```\n```json\nmake no\n```\n`cleanup=prod` and `kubectl -n x get y`, `go.mod`"
	want := []string{"make deploy CHANNEL=C0", "make demo", "aws lambda invoke --out    --payload '{}'", "kubectl -n x get y"}
	if diff := cmp.Diff(want, commandsOf(page)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// Every command of the pages has a rule that says how it is held: so none is added
// that is never run. The programs are run by .ci/run commands.
func TestEveryCommandHasARule(t *testing.T) {
	gate := testfile.Read(t, "../../.ci/run")
	found := 0
	for _, path := range pages() {
		page := testfile.Read(t, path)
		for _, command := range commandsOf(string(page)) {
			found++
			r, ok := ruleOf(command)
			switch {
			case !ok:
				t.Errorf("%s: no rule says what %q does without credentials", path, command)
			case r.gate != "" && !slices.ContainsFunc(strings.Split(string(gate), "\n"), func(line string) bool { return strings.TrimSpace(line) == r.gate }):
				t.Errorf("%s: %q is said to be run by .ci/run as %q, which it is not", path, command, r.gate)
			case r.program:
				for _, folder := range regexp.MustCompile(` \./([a-z/]+)`).FindAllStringSubmatch(strings.ReplaceAll(command, "NAME", "corpus"), -1) {
					if _, err := os.Stat("../../" + folder[1]); err != nil {
						t.Errorf("%s: %q: %v", path, command, err)
					}
				}
			case r.step && command != ".ci/run" && command != ".ci/run NAME…":
				for _, name := range strings.Fields(command)[1:] {
					if !strings.Contains(string(gate), "\nstep_"+name+"() {") {
						t.Errorf("%s: %q: .ci/run has no step %s", path, command, name)
					}
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("%d commands: this test looks for the wrong thing", found)
	}
	// A folder that was moved is otherwise found late in the gate.
	for _, m := range regexp.MustCompile(`[ +]((?:\./)?(?:shared|stage|tools|functions|command)/[a-z_./]+[a-z])`).FindAllSubmatch(gate, -1) {
		if _, err := os.Stat("../../" + string(m[1])); err != nil {
			t.Errorf(".ci/run: %v", err)
		}
	}
}

// rule says how the commands that begin so are held. Exactly one of the others
// is set.
type rule struct {
	prefix string
	// stops is what a command says that needs AWS or a cluster, and has neither.
	stops string
	// gate is the line of .ci/run that runs it to its end.
	gate string
	// says is what a command says that needs neither.
	says string
	// target is set where make must know it, and where it needs no AWS: a program
	// of many minutes that writes a page of figures, or one of .ci/run's own.
	target bool
	// program is a folder that go run or go test finds, and which works for minutes or
	// needs what is not here.
	program bool
	// step is one or several of .ci/run.
	step bool
}

const (
	noCredentials = "no AWS credentials found in the environment, in ~/.aws or of this machine's role"
	noCLI         = "Unable to locate credentials"
	noCluster     = "localhost:8080"
)

// rules, the longest prefix first where one begins another.
func rules() []rule {
	return []rule{
		{prefix: "make bootstrap", stops: noCredentials},
		{prefix: "make deploy", stops: noCredentials},
		{prefix: "make diff", stops: noCredentials},
		{prefix: "make destroy", stops: noCredentials},
		{prefix: "make redrive", stops: noCredentials},
		{prefix: "make demo", gate: "make demo"},
		{prefix: "make test-full", gate: "make test-full"}, {prefix: "make test", gate: "make test"},
		{prefix: "make lint", gate: "make lint"}, {prefix: "make generate", gate: "make generate"}, {prefix: "make synth", gate: "make synth"},
		{prefix: "go run ./tools/bench/corpus", gate: "go run ./tools/bench/corpus"},
		{prefix: "go run ./tools/site check build/site", gate: "go run ./tools/site check build/site"},
		{prefix: "sh tools/fuzz.sh", gate: "sh tools/fuzz.sh 1s"},
		{prefix: "go run ./tools/", program: true}, {prefix: "go run ./stage/fakeslack/try", program: true}, {prefix: "go run ./stage/platform/wire/gen/model", program: true},
		{prefix: ".ci/run", step: true},
		{prefix: "make ", target: true},
		{prefix: "aws ", stops: noCLI},
		{prefix: "kubectl ", stops: noCluster},
		{prefix: "go run ./cmd/rollcall capture", says: "rollcall: no AWS credentials found"},
		{prefix: "go run ./cmd/rollcall diagnose --cluster", says: "rollcall: no AWS credentials found"},
		{prefix: "go run ./cmd/rollcall preflight --file", says: "rollcall: --file nodegroup.json: no such file"},
		{prefix: "go run ./cmd/rollcall diagnose capture", says: "rollcall: capture: no such folder or file"},
		{prefix: "go run ./cmd/rollcall doctor", says: "rollcall: no AWS credentials found"},
		{prefix: "go run ./cmd/rollcall explain", says: "launch/vcpu-limit"},
		{prefix: "go test ./shared/checks/route", says: "ok"},
		{prefix: "go run ./cmd/rollcall", says: "Usage:"},
		{prefix: "make", says: "make deploy"},
	}
}

func ruleOf(command string) (rule, bool) {
	for _, r := range rules() {
		if command == strings.TrimSpace(r.prefix) || strings.HasPrefix(command, r.prefix) && (r.prefix != "make") {
			return r, true
		}
	}
	return rule{}, false
}
