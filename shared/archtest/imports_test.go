package archtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
		"shared/invoke":             {"awscall", "awsjson"},
		"shared/relay/via":          {"invoke", "net", "net/http"}, // a way to others, through their relays
		"shared/capture":            {"net", "net/http"},           // tells by their types how calls failed
		"shared/evidence":           {"s3"},
		"shared/detect":             {"dynamodb", "s3"}, // makes the clients for the keeper of evidence and for what is known of relays
		"shared/cloudtrail":         {"awsjson"},
		"shared/cloudwatchlogs":     {"awsjson"},
		"shared/route53resolver":    {"awsjson"},
		"shared/route53profiles":    {"awsjson"},
		"shared/route53":            {"awscall"},
		"shared/arczonalshift":      {"awsjson"},
		"shared/slack":              {"slack"}, // the types of blocks
		"shared/slack/slackapi":     {"net", "net/http", "secretsmanager", "slack"},
		"shared/slack/slacktext":    {"slack"}, // the types of blocks
		"shared/store":              {"dynamodb"},
		"shared/bus":                {"eventbridge", "sqs"},
		"shared/target/deliver":     {"net", "net/http", "secretsmanager", "sns"},
		"shared/lambda":             {"net/http"}, // the way to Slack, for the stage to take its place
		"shared/awsconf":            {"net", "net/http", "sts"},
		"shared/remedy/awscall":     {"autoscaling", "ec2", "eks"}, // what changes things in AWS
		// The functions make the clients of state, bus and slack, and hand
		// them over.
		"functions/launch-watch/launchwatch":       {"dynamodb", "sqs"},
		"functions/join-check/joincheck":           {"cloudwatchlogs", "dynamodb", "sqs"},
		"functions/nodegroup-watch/nodegroupwatch": {"dynamodb", "eventbridge", "sqs"},
		"functions/spot-report/spotreport":         {"dynamodb", "sqs"},
		"functions/subnet-watch/subnetwatch":       {"dynamodb", "sqs"},
		"functions/zone-watch/zonewatch":           {"dynamodb", "sqs"},
		"functions/sweep/sweep":                    {"cloudwatchlogs", "dynamodb", "eventbridge", "sqs"},
		"functions/eni-cleanup/enicleanup":         {"dynamodb", "eventbridge", "sqs"},
		"functions/change-check/changecheck":       {"dynamodb", "sqs"},
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
		want := []string{p.ImportPath + "/" + strings.ReplaceAll(name, "-", ""), p.ImportPath + "/spec", module + "/shared/lambda"}
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
	case path == module+"/shared/cloudtrail", path == module+"/shared/cloudwatchlogs", path == module+"/shared/s3", path == module+"/shared/invoke":
		return strings.TrimPrefix(path, module+"/shared/"), true
	case path == slackSDK:
		return "slack", true
	case strings.HasPrefix(path, awsService):
		service, rest, _ := strings.Cut(strings.TrimPrefix(path, awsService), "/")
		return service, rest != "types" // types alone reach nobody
	}
	return "", false
}

// TestDeployedCodeStandsAlone holds that neither the local stage nor CDK is in
// a function.
func TestDeployedCodeStandsAlone(t *testing.T) {
	for _, p := range packages(t) {
		for _, dep := range p.Deps {
			for _, forbidden := range []string{module + "/local", module + "/infra", "github.com/aws/aws-cdk-go", "github.com/aws/jsii-runtime-go", "testing"} {
				if within(dep, forbidden) && !testHelper(p.name()) {
					t.Errorf("%s depends on %s", p.name(), dep)
				}
			}
		}
	}
}

// testHelper tells that a package is for tests alone; no function may hold it.
func testHelper(name string) bool {
	switch name {
	case "shared/snapshot/snapshottest", "shared/incident/incidenttest", "shared/gather/gathertest", "shared/checks/checktest", "shared/remedy/remedytest",
		"shared/notify/notifytest":
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
			case p.name() == "functions/slack-actions", p.name() == "functions/slack-actions/slackactions":
				// It reads another secret, and what buttons carry. That it cannot read the
				// token is held over the roles (infra, TestSecretsHaveOneReaderEach).
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
