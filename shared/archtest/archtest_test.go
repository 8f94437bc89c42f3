package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/tools/testfile"
)

// TestCheckIDsAreSpelledOnce: the id of a check is spelled in package checkid; everything else
// names it by its constant, or asks the check what it means. To look how an id begins is to
// spell its family.
func TestCheckIDsAreSpelledOnce(t *testing.T) {
	known := map[string]bool{}
	prefixes := map[string]bool{}
	for _, c := range checks.All() {
		known[string(c.ID)] = false
		prefixes[string(c.ID.Family())+"/"] = true
	}
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			ast.Inspect(parse(t, path), func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, prefix := range cutPrefixes(call) {
						if prefixes[prefix] {
							t.Errorf("%s/%s looks for %q: use the id's Family, or a property of the check", p.name(), name, prefix)
						}
					}
				}
				l, ok := n.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(l.Value)
				if err != nil {
					t.Fatal(err)
				}
				spelled, isID := known[text]
				switch {
				case isID && p.name() != "shared/checkid":
					t.Errorf("%s/%s spells %q: use its constant in checkid, or a property of the check", p.name(), name, text)
				case isID && spelled:
					t.Errorf("%s/%s spells %q a second time", p.name(), name, text)
				case isID:
					known[text] = true
				}
				return true
			})
		}
	}
	for id, spelled := range known {
		if !spelled {
			t.Errorf("%s is spelled nowhere: this test looks for the wrong thing", id)
		}
	}
}

// cutPrefixes are the texts that a call looks for at the beginning of another.
func cutPrefixes(call *ast.CallExpr) []string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 2 || f.Sel.Name != "HasPrefix" && f.Sel.Name != "CutPrefix" && f.Sel.Name != "TrimPrefix" {
		return nil
	}
	l, ok := call.Args[1].(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return nil
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return nil
	}
	return []string{text}
}

// TestOneBuilderOfCommands holds that a command to paste is built of words by
// package shell, which quotes each: nowhere else is a text that begins like one
// put together with another. A whole command as a constant holds nothing that
// another owner has chosen.
func TestOneBuilderOfCommands(t *testing.T) {
	begins := func(s string) bool {
		for _, program := range []string{"aws ", "kubectl ", "eksctl ", "for id in "} {
			if strings.HasPrefix(s, program) {
				return true
			}
		}
		return false
	}
	text := func(n ast.Expr) string {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return ""
		}
		s, err := strconv.Unquote(l.Value)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	uses := 0
	for _, p := range packages(t) {
		if p.name() == "shared/shell" || !strings.HasPrefix(p.name(), "shared/") && !strings.HasPrefix(p.name(), "functions/") {
			continue
		}
		for _, path := range p.Imports {
			if path == module+"/shared/shell" {
				uses++
			}
		}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			source := testfile.Read(t, path)
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if n.Op == token.ADD && begins(text(n.X)) {
						t.Errorf("%s: a command is put together without package shell", fset.Position(n.Pos()))
					}
				case *ast.BasicLit:
					if s := text(n); begins(s) && strings.Contains(s, "%") {
						t.Errorf("%s: a command is formatted without package shell", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
	if uses < 3 {
		t.Errorf("%d packages use shell: this test looks for the wrong thing", uses)
	}
}

const (
	gatherer = "shared/gather"
	// clientMaker is the one file in it that makes an EC2 client.
	clientMaker = "shared/gather/ec2api/ec2api.go"
)

// TestEC2IsDescribedInOnePlace holds that EC2 is described by package gather and
// those below it alone, with the one client that asks for managed resources: any other would
// not see EKS Auto Mode's instances and interfaces, and take them for gone.
func TestEC2IsDescribedInOnePlace(t *testing.T) {
	made := 0
	for _, p := range packages(t) {
		gathers := p.name() == gatherer || strings.HasPrefix(p.name(), gatherer+"/")
		for _, file := range p.GoFiles {
			for _, name := range ofEC2(parse(t, filepath.Join(p.Dir, file))) {
				switch {
				case gathers && name == "NewFromConfig":
					made++
					if p.name()+"/"+file != clientMaker {
						t.Errorf("%s/%s makes an EC2 client of its own", p.name(), file)
					}
				case !gathers && (strings.HasPrefix(name, "Describe") || strings.HasPrefix(name, "NewDescribe")):
					t.Errorf("%s/%s describes EC2 by itself: ec2.%s", p.name(), file, name)
				}
			}
		}
	}
	if made != 1 {
		t.Errorf("%s makes %d EC2 clients, want 1", gatherer, made)
	}
}

// ofEC2 are the names of the SDK's package ec2 that a file uses.
func ofEC2(file *ast.File) []string {
	local := ""
	for _, i := range file.Imports {
		if strings.Trim(i.Path.Value, `"`) == "github.com/aws/aws-sdk-go-v2/service/ec2" {
			local = "ec2"
			if i.Name != nil {
				local = i.Name.Name
			}
		}
	}
	if local == "" {
		return nil
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == local {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}

const (
	awsService = "github.com/aws/aws-sdk-go-v2/service/"
	slackSDK   = "github.com/slack-go/slack"
)

// TestWhoTalks holds that the world outside is spoken to in few places: reads
// in gather and kube, writes in slack, state and bus. Each package stands here
// with the clients that it may use; those that are not named use none.
func TestWhoTalks(t *testing.T) {
	want := map[string][]string{
		"shared/askonce":            {"net/http"}, // a way to others, that asks them once
		"shared/gather":             {"autoscaling", "cloudtrail", "cloudwatchlogs", "ec2", "eks", "iam", "net/http", "sts"},
		"shared/gather/autoscaling": {"autoscaling"},
		"shared/gather/ec2":         {"ec2"},
		"shared/gather/ec2api":      {"ec2"},
		"shared/gather/vpc":         {"ec2"},
		"shared/gather/eks":         {"eks"},
		"shared/gather/iam":         {"iam"},
		"shared/gather/kubernetes":  {"net/http"},        // tells a refusal by its code
		"shared/gather/source":      {"net", "net/http"}, // tells by their types how calls failed
		"shared/kube":               {"net", "net/http", "sts"},
		"shared/awsjson":            {"awscall"},
		"shared/s3":                 {"awscall"},
		"shared/relay/via":          {"awscall", "awsjson", "net", "net/http"}, // a way to others, through their relays
		"shared/capture":            {"net", "net/http"},                       // tells by their types how calls failed
		"shared/evidence":           {"s3"},
		"shared/detect":             {"dynamodb", "s3"}, // makes the clients for the keeper of evidence and for the table
		"shared/cloudtrail":         {"awsjson"},
		"shared/cloudwatchlogs":     {"awsjson"},
		"shared/route53":            {"awscall", "awsjson"},
		"shared/arczonalshift":      {"awsjson"},
		"shared/slack":              {"slack"}, // the types of blocks
		"shared/slack/hook":         {"net", "net/http", "secretsmanager"},
		"shared/slack/slackapi":     {"net/http", "slack"},
		"shared/store":              {"dynamodb"},
		"shared/store/incoming":     {"dynamodb"},
		"shared/store/table":        {"dynamodb"},
		"shared/bus":                {"eventbridge"},
		"shared/queue":              {"sqs"},
		"shared/target/deliver":     {"net", "net/http", "secretsmanager", "sns"},
		"shared/lambda":             {"net/http"}, // the way to Slack, for the stage to take its place
		"shared/awsconf":            {"net", "net/http", "sts"},
		"shared/remedy/awscall":     {"autoscaling", "ec2", "eks"}, // what changes things in AWS
		// The functions make the clients of state, bus and slack, and hand
		// them over.
		"functions/launch-watch/launchwatch":       {"sqs"},
		"functions/join-check/joincheck":           {"cloudwatchlogs", "sqs"},
		"functions/nodegroup-watch/nodegroupwatch": {"eventbridge", "sqs"},
		"functions/spot-report/spotreport":         {"dynamodb", "sqs"},
		"functions/subnet-watch/subnetwatch":       {"sqs"},
		"functions/zone-watch/zonewatch":           {"sqs"},
		"functions/sweep/sweep":                    {"cloudwatchlogs", "eventbridge", "sqs"},
		"functions/eni-cleanup/enicleanup":         {"eventbridge", "sqs"},
		"functions/change-check/changecheck":       {"sqs"},
		"functions/report/report":                  {"dynamodb", "eventbridge", "net/http", "secretsmanager", "sqs"},
		"functions/slack-actions/slackactions":     {"dynamodb", "net/http", "secretsmanager", "sqs"},
		"functions/notify-targets/notifytargets":   {"dynamodb", "secretsmanager", "sns", "sqs"},
		"functions/remediate/remediate":            {"dynamodb", "eventbridge", "sqs"},
		"functions/relay/relay":                    {"net", "net/http"}, // it reads nothing itself, and hands on
	}
	got := map[string][]string{}
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			if name, ok := client(path); ok && !slices.Contains(got[p.name()], name) {
				got[p.name()] = append(got[p.name()], name)
			}
		}
		slices.Sort(got[p.name()])
		if got[p.name()] == nil {
			delete(got, p.name())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("clients by package (-may +does):\n%s", diff)
	}
}

// TestProgramsOnlyStart holds that the program of a function starts it and does
// nothing else, so that whoever calls Build as a Go function has all of it.
func TestProgramsOnlyStart(t *testing.T) {
	programs := 0
	for _, p := range packages(t) {
		folder, name, _ := strings.Cut(p.name(), "/")
		if folder != "functions" || strings.Contains(name, "/") {
			continue
		}
		programs++
		want := []string{p.ImportPath + "/" + strings.ReplaceAll(name, "-", ""), p.ImportPath + "/spec", module + "/shared/lambda/runtime"}
		slices.Sort(want)
		if diff := cmp.Diff(want, p.Imports); diff != "" {
			t.Errorf("%s imports (-may +does):\n%s", p.name(), diff)
		}
		if diff := cmp.Diff([]string{"main.go"}, p.GoFiles); diff != "" {
			t.Errorf("files of %s (-may +has):\n%s", p.name(), diff)
		}
	}
	if programs == 0 {
		t.Error("there is no program below functions: this test looks for the wrong thing")
	}
}

// client is the short name of a package through which one can reach outside.
func client(path string) (string, bool) {
	switch {
	case path == "net", path == "net/http":
		return path, true
	case path == module+"/shared/awscall", path == module+"/shared/awsjson": // what clients of our own are made of
		return strings.TrimPrefix(path, module+"/shared/"), true
	case path == module+"/shared/cloudtrail", path == module+"/shared/cloudwatchlogs", path == module+"/shared/s3":
		return strings.TrimPrefix(path, module+"/shared/"), true
	case path == slackSDK:
		return "slack", true
	case strings.HasPrefix(path, awsService):
		service, rest, _ := strings.Cut(strings.TrimPrefix(path, awsService), "/")
		return service, rest != "types" // types alone send nothing
	}
	return "", false
}

// TestDeployedCodeStandsAlone: neither the command, the stage, the tools nor CDK is in
// a function.
func TestDeployedCodeStandsAlone(t *testing.T) {
	for _, p := range packages(t) {
		for _, dep := range p.Deps {
			for _, forbidden := range []string{module + "/command", module + "/stage", module + "/tools", module + "/infra", "github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go", "testing"} {
				if within(dep, forbidden) && !testHelper(p.name()) {
					t.Errorf("%s depends on %s", p.name(), dep)
				}
			}
		}
	}
}

// TestFoldersImportOneWay: the command holds neither the stage nor a tool, and the stage holds
// no tool. Their tests may.
func TestFoldersImportOneWay(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./cmd/rollcall", "./command/...", "./stage/...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	list := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(list) < 40 {
		t.Fatalf("go list found %d packages", len(list))
	}
	for _, line := range list {
		names := strings.Fields(line)
		for _, to := range names[1:] {
			tool := within(to, module+"/tools") && names[0] != module+"/stage/stagetest" // which is for tests
			held := within(to, module+"/stage") && !within(names[0], module+"/stage") && names[0] != module+"/command/callertest"
			if tool || held {
				t.Errorf("%s imports %s", names[0], to)
			}
		}
	}
}

// TestNamedFilesExist: the files that the pages for contributors name are there.
func TestNamedFilesExist(t *testing.T) {
	root := filepath.Join("..", "..")
	named := regexp.MustCompile("`((?:shared|functions|command|stage|tools|events|infra)/[a-z0-9_./-]+)`")
	found := 0
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md"} {
		text := testfile.Read(t, filepath.Join(root, page))
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d files are named: the pages or this test look elsewhere", found)
	}
}

// testHelper reports whether a package is for tests alone; no function may hold it.
func testHelper(name string) bool {
	switch name {
	case "shared/snapshot/snapshottest", "shared/incident/incidenttest", "shared/gather/gathertest", "shared/checks/checktest", "shared/remedy/remedytest",
		"shared/notify/notifytest", "shared/spec/spectest":
		return true
	}
	return false
}

func TestNoFunctionHoldsTestHelpers(t *testing.T) {
	for _, p := range packages(t) {
		for _, dep := range p.Deps {
			if strings.HasPrefix(p.name(), "functions/") && testHelper(strings.TrimPrefix(dep, module+"/")) {
				t.Errorf("%s depends on %s", p.name(), dep)
			}
		}
	}
}

// TestReportAloneHoldsTheSlackToken: detectors never talk to Slack, and could
// not if they wanted to.
func TestReportAloneHoldsTheSlackToken(t *testing.T) {
	forbidden := []string{module + "/shared/slack/slackapi", slackSDK, awsService + "secretsmanager"}
	seen := false
	for _, p := range packages(t) {
		for _, dep := range p.Deps {
			if !slices.ContainsFunc(forbidden, func(f string) bool { return within(dep, f) }) {
				continue
			}
			switch {
			case p.name() == "functions/report", p.name() == "functions/report/report":
				seen = true
			case within(dep, awsService+"secretsmanager") && (p.name() == "functions/slack-actions" || p.name() == "functions/slack-actions/slackactions"):
				// It reads another secret. That it cannot read the token is held over the
				// roles (infra, TestSecretsHaveOneReaderEach).
			case within(dep, awsService+"secretsmanager") && (p.name() == "functions/notify-targets" || p.name() == "functions/notify-targets/notifytargets"):
				// It reads the secrets of the targets that the settings name, and no others.
			case strings.HasPrefix(p.name(), "functions/"):
				t.Errorf("%s depends on %s", p.name(), dep)
			}
		}
	}
	if !seen {
		t.Error("functions/report does not depend on the Slack client either: this test looks for the wrong thing")
	}
}

// TestThreeFunctionsAloneDraw: the fonts and the drawing make a function half as
// large again, and it starts more slowly. Who draws is woken by a schedule.
func TestThreeFunctionsAloneDraw(t *testing.T) {
	forbidden := []string{module + "/shared/chart", "gonum.org/v1/plot", "codeberg.org/go-fonts"}
	seen := false
	for _, p := range packages(t) {
		for _, dep := range p.Deps {
			if !slices.ContainsFunc(forbidden, func(f string) bool { return within(dep, f) }) {
				continue
			}
			switch {
			case p.name() == "functions/spot-report", p.name() == "functions/spot-report/spotreport",
				p.name() == "functions/subnet-watch", p.name() == "functions/subnet-watch/subnetwatch",
				p.name() == "functions/sweep", p.name() == "functions/sweep/sweep": // subnet-watch's look is in its turns
				seen = true
			case p.name() != "shared/chart":
				t.Errorf("%s depends on %s", p.name(), dep)
			}
		}
	}
	if !seen {
		t.Error("functions/spot-report does not draw either: this test looks for the wrong thing")
	}
}

// module is the module's path.
const module = "rollcall"

// pkg is what `go list -json` says of a package.
type pkg struct {
	Dir        string
	ImportPath string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// name is the path below the module: "shared/event".
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// listed are all packages of shared and functions, without their tests.
var listed = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,Imports,Deps", "./shared/...", "./functions/...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
})

func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(list) < 20 {
		t.Fatalf("go list found %d packages: the laws would hold for nothing", len(list))
	}
	return list
}

// within reports whether an import path is the given one or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// decides are the packages that decide: no client, no network, no clock, no
// environment (DESIGN, section 2).
func decides(t *testing.T) []string {
	t.Helper()
	list := []string{
		"access/policy",
		"backoff",
		"catalog",
		"chart",
		"checkid",
		"checks",
		"diagnose",
		"diagnosis",
		"event",
		"incident",
		"incident/correlate",
		"incident/reconcile",
		"incident/response",
		"interaction",
		"network/address",
		"network/filter",
		"network/leak",
		"network/path",
		"node/activity",
		"node/autolog",
		"node/console",
		"node/exact",
		"node/factor",
		"node/outcome",
		"node/refusal",
		"node/spot",
		"node/spotreport",
		"node/text",
		"node/userdata",
		"node/vpccni",
		"outbox",
		"overview",
		"preflight",
		"remedy",
		"report",
		"routing",
		"shell",
		"silence",
		"slashcommand",
		"snapshot",
		"spec",
	}
	for _, p := range packages(t) {
		if name, ok := strings.CutPrefix(p.name(), "shared/checks/"); ok && name != "checktest" {
			list = append(list, "checks/"+name)
		}
		// What makes the calls of remedies stands in one package.
		if name, ok := strings.CutPrefix(p.name(), "shared/remedy/"); ok && name != "awscall" && name != "remedytest" {
			list = append(list, "remedy/"+name)
		}
	}
	return list
}

// silent are those that send nothing either, but may know the time: settings
// hold the clock.
func silent(t *testing.T) []string {
	t.Helper()
	return append(decides(t), "config")
}

func TestDecidingPackagesReachNoService(t *testing.T) {
	forbidden := []string{"github.com/aws", "github.com/slack-go", "net/http"}
	left := silent(t)
	for _, p := range packages(t) {
		i := slices.IndexFunc(left, func(name string) bool { return p.name() == "shared/"+name })
		if i < 0 {
			continue
		}
		left = slices.Delete(left, i, i+1)
		for _, dep := range p.Deps {
			if slices.ContainsFunc(forbidden, func(f string) bool { return within(dep, f) }) {
				t.Errorf("%s depends on %s", p.name(), dep)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("there are no packages %q", left)
	}
}

func TestDecidingPackagesKnowNoTimeNorPlace(t *testing.T) {
	// os is behind fmt in every program: only importing it is a choice.
	forbidden := []string{"os", "os/exec", "net", "syscall", "log", "log/slog"}
	for _, p := range packages(t) {
		if !slices.ContainsFunc(decides(t), func(name string) bool { return p.name() == "shared/"+name }) {
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(forbidden, path) {
				t.Errorf("%s imports %s", p.name(), path)
			}
		}
		for _, file := range p.GoFiles {
			for _, call := range clockCalls(t, filepath.Join(p.Dir, file)) {
				t.Errorf("%s: %s calls %s; time comes in as an argument", p.name(), file, call)
			}
		}
	}
}

// clockCalls finds what reads the clock or waits for it.
func clockCalls(t *testing.T, file string) []string {
	t.Helper()
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}
	var calls []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(clock, s.Sel.Name) {
				calls = append(calls, "time."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// source writes a file for a test of the laws themselves.
func source(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.go")
	testfile.Write(t, file, []byte(text))
	return file
}

func TestClockCallsFindsThem(t *testing.T) {
	file := source(t, "package late\n\nimport \"time\"\n\nvar a, b = time.Now(), time.Since(time.Time{})\n")
	if got, want := clockCalls(t, file), []string{"time.Now", "time.Since"}; !slices.Equal(got, want) {
		t.Errorf("clockCalls = %q, want %q", got, want)
	}
}

// TestTheToolchainIsNamed: a patch release, so that what is deployed has the fixes
// of the standard library that were there when it was tested.
func TestTheToolchainIsNamed(t *testing.T) {
	mod := testfile.Read(t, "../../go.mod")
	if !regexp.MustCompile(`(?m)^toolchain go1\.\d+\.[1-9]\d*$`).Match(mod) {
		t.Error("go.mod names no patch release as its toolchain")
	}
}

// constants are package-level values that Go cannot call constant, and that
// nothing changes.
func constants() map[string]string {
	return map[string]string{
		"shared/catalog.entries": "the catalog, which Go has no constant for",

		"shared/node/activity.known": "the rows of launches and their automaton, made once",
		"shared/node/console.known":  "the rows of consoles and their automaton, made once",
		"shared/node/text.known":     "the rows of texts and their automaton, made once",

		"shared/slack/slacktext.rooms": "an array of sizes, which Go has no constant for",
	}
}

// TestNoState holds that packages keep nothing: no init, and no variable but
// errors, compiled expressions and assertions. State lives in values that are
// handed on.
func TestNoState(t *testing.T) {
	known := constants()
	for _, p := range packages(t) {
		if testHelper(p.name()) {
			continue // its scenes are values that tests share
		}
		for _, file := range p.GoFiles {
			for _, name := range state(parse(t, filepath.Join(p.Dir, file))) {
				if _, ok := known[p.name()+"."+name]; ok {
					delete(known, p.name()+"."+name)
					continue
				}
				t.Errorf("%s: %s keeps state: %s", p.name(), file, name)
			}
		}
	}
	for name := range known {
		t.Errorf("%s is excepted and does not exist", name)
	}
}

// state finds init functions and package-level variables that could change.
func state(file *ast.File) []string {
	var found []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				found = append(found, "init")
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				found = append(found, variables(spec.(*ast.ValueSpec))...)
			}
		}
	}
	return found
}

func variables(v *ast.ValueSpec) []string {
	var found []string
	for i, name := range v.Names {
		if name.Name == "_" || i < len(v.Values) && fixed(v.Values[i]) {
			continue
		}
		found = append(found, name.Name)
	}
	return found
}

// fixed reports whether a value is an error or a compiled expression: no code
// assigns to those, and they have no methods that change them.
func fixed(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && slices.Contains([]string{"errors.New", "regexp.MustCompile", "lazyregexp.New"}, pkg.Name+"."+s.Sel.Name)
}

func TestStateFindsIt(t *testing.T) {
	file := source(t, `package x

import ("errors"; "regexp"; "rollcall/shared/lazyregexp")

var ErrX, cache = errors.New("x"), map[string]int{}

var (
	_       error = ErrX
	pattern       = regexp.MustCompile("x")
	later         = lazyregexp.New("x")
	count   int
)

func init() { count++ }

type t struct{}

func (t) init() { var local int; _ = local }
`)
	if got, want := state(parse(t, file)), []string{"cache", "count", "init"}; !slices.Equal(got, want) {
		t.Errorf("state = %q, want %q", got, want)
	}
}
