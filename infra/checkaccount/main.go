// Command checkaccount says, before anything is built, whether there are AWS
// credentials, whose they are, which of the clusters that the stack would
// make access entries in refuse them, and whether Lambda has the concurrency that it reserves:
//
//	go run ./infra/checkaccount -for deploy [-settings rollcall.yaml] -c slackChannel=C0123456789 [-c key=value]...
//
// What an operator should know goes to standard error. Standard output is for
// the Makefile: the environment to bootstrap ("aws://123456789012/us-west-2"),
// or the settings that the stack needs on top ("-c configMapClusters=old").
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/infra/access"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/shell"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Times within which AWS must have answered. Credentials are said to be wrong
// within two seconds; clusters are asked only with good ones.
const (
	identityTime = 1700 * time.Millisecond
	clustersTime = 10 * time.Second
)

func main() {
	var line settings.Line
	target := flag.String("for", "deploy", "the target: bootstrap, deploy, deploy-relay, deploy-spoke, diff, destroy or redrive")
	file := flag.String("settings", "", "the settings file")
	flag.BoolVar(&line.NoChannel, "no-channel", false, "the target needs no channel")
	flag.Func("c", "a setting, key=value", func(text string) error {
		line.Context = append(line.Context, text)
		return nil
	})
	flag.Parse()
	var err error
	if line.File, err = settings.ReadFile(*file); err == nil {
		err = run(context.Background(), *target, line, os.Getenv, os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "make %s cannot start: %v\n", *target, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, target string, line settings.Line, getenv func(string) string, out, say io.Writer) error {
	chosen, given, err := line.Parse()
	if err != nil {
		return err
	}
	quick, cancel := context.WithTimeout(ctx, identityTime)
	defer cancel()
	cfg, err := load(quick, target)
	if err != nil {
		return err
	}
	who, err := callerOf(quick, target, cfg, func() identifier { return sts.NewFromConfig(cfg) }, getenv)
	switch {
	case err != nil:
		return err
	case who.unasked != "" && target == "bootstrap":
		return errors.New(who.unasked + "; the account to bootstrap is not known")
	case who.unasked != "":
		fmt.Fprintln(say, "Not checked: "+who.unasked+".")
	default:
		fmt.Fprintf(say, "%s: account %s, %s, as %s\n", target, who.account, cfg.Region, who.arn)
	}
	switch target {
	case "bootstrap":
		fmt.Fprintf(out, "aws://%s/%s\n", who.account, cfg.Region)
	case "deploy", "diff":
		if err := apart(cfg.Region, chosen); err != nil {
			return err
		}
		for _, line := range lacking(cfg.Region, chosen) {
			fmt.Fprintln(say, line)
		}
		patient, cancel := context.WithTimeout(ctx, clustersTime)
		defer cancel()
		unasked, err := missingPolicies(patient, eks.NewFromConfig(cfg), cfg.Region, chosen)
		fmt.Fprint(say, unasked)
		if err != nil {
			return err
		}
		reader := ""
		if who.account != "" {
			reader = config.SpokeRoleARN(chosen.RolePath+chosen.Prefix(), spec.SpokeReader, spoke.ID{Account: who.account, Region: cfg.Region})
		}
		found := look(patient, eks.NewFromConfig(cfg), entries(chosen), reader)
		fmt.Fprint(say, found.words(cfg.Region))
		unasked, tooFew := concurrency(patient, lambda.NewFromConfig(cfg), cfg.Region, chosen)
		fmt.Fprint(say, unasked)
		var changes error
		if _, named := given[settings.KubernetesAccess]; !named {
			changes = found.wayChanges(chosen)
		}
		if changes != nil && target == "diff" {
			fmt.Fprintf(say, "make deploy would stop: %v\n", changes)
			changes = nil
		}
		if err := errors.Join(found.missingError(cfg.Region), found.byHandError(cfg.Region, reader), tooFew, changes); err != nil {
			return err
		}
		fmt.Fprint(out, found.context(chosen.ConfigMapClusters))
	}
	return nil
}

// entries are the clusters in which the stack would make access entries.
func entries(chosen settings.Settings) []string {
	if chosen.Access == settings.AccessNone {
		return nil
	}
	return chosen.AccessClusters
}

// found is what EKS says of the clusters, and the sentences of make about it.
type found struct{ access.Found }

// look asks EKS about the clusters.
func look(ctx context.Context, api access.Describer, clusters []string, reader string) found {
	return found{access.Look(ctx, api, clusters, reader)}
}

// words are for an operator; none where there is nothing to be said.
func (f found) words(region string) string {
	var b strings.Builder
	for _, c := range f.ConfigMap {
		fmt.Fprintf(&b, "%s: authentication mode CONFIG_MAP. EKS refuses access entries there, so the stack makes none. After the deployment add the lines of the output AwsAuthRoles under mapRoles"+
			" (kubectl -n kube-system edit configmap aws-auth), and run the output ClusterRoleCommand. Or let the cluster take access entries too, for good, and deploy again:\n"+
			"  aws eks update-cluster-config --region %s --name %s --access-config authenticationMode=API_AND_CONFIG_MAP\n", c, region, c)
	}
	for _, a := range f.Unasked {
		fmt.Fprintf(&b, "%s: its authentication mode is not known (eks:DescribeCluster: %v). If it is CONFIG_MAP, EKS refuses the access entry and the stack rolls back: add %s=%s to SET.\n",
			a.Cluster, a.Err, settings.ConfigMapClusters, a.Cluster)
	}
	for _, a := range f.Unseen {
		fmt.Fprintf(&b, "%s: whether Rollcall's reader has an access entry there that was made by hand is not known (eks:DescribeAccessEntry: %v). If it has, EKS refuses the stack's and the stack rolls back."+
			" If the deployed stack reads there by access policies, name kubernetesAccess=policy in SET to keep them: the default is group.\n", a.Cluster, a.EntryErr)
	}
	return b.String()
}

// missingError refuses clusters that are not there: their access entries would
// fail, and roll the stack back.
func (f found) missingError(region string) error {
	if len(f.Missing) == 0 {
		return nil
	}
	return fmt.Errorf("EKS has no cluster %s in %s (CLUSTERS=…, or accessClusters in SET; aws eks list-clusters)", strings.Join(f.Missing, ", "), region)
}

// byHandError refuses clusters in which the stack would make an access entry that is there:
// EKS refuses a second one for a principal (ResourceInUseException, "The specified access
// entry resource is already in use on this cluster"), and CloudFormation rolls the whole stack
// back.
func (f found) byHandError(region, reader string) error {
	if len(f.ByHand) == 0 {
		return nil
	}
	var commands strings.Builder
	for _, c := range f.ByHand {
		commands.WriteString("\n  " + shell.Command("aws", "eks", "delete-access-entry", "--region", region, "--cluster-name", c, "--principal-arn", reader))
	}
	return fmt.Errorf("the stack makes the access entry of Rollcall's reader in %s, and one was made there by hand: EKS refuses the second, and the whole stack would roll back."+
		" Delete it right before the deployment, or leave the cluster out of CLUSTERS and accessClusters:%s", strings.Join(f.ByHand, ", "), commands.String())
}

// wayChanges asks for kubernetesAccess where the stack has access policies and the settings
// do not name the way: the default is the group, whose ClusterRole has to be applied in each
// cluster, and until then the checks that need Kubernetes would be unknown.
func (f found) wayChanges(chosen settings.Settings) error {
	if len(f.ByPolicy) == 0 || chosen.Access != settings.AccessGroup {
		return nil
	}
	return fmt.Errorf("the deployed stack reads in %s by EKS access policies, and the default of kubernetesAccess is group. Name the way in SET: kubernetesAccess=policy keeps what is deployed;"+
		" kubernetesAccess=group replaces it with a ClusterRole that is narrower, and needs the output ClusterRoleCommand run after the deployment", strings.Join(f.ByPolicy, ", "))
}

// context is what the CDK command line is given on top, so that the stack makes
// no access entry where EKS would refuse it.
func (f found) context(given []string) string {
	all := slices.Concat(given, f.ConfigMap)
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("-c %s=%s\n", settings.ConfigMapClusters, strings.Join(slices.Compact(all), ","))
}

// The partitions other than AWS's own have fewer services, and nothing passes from one to
// another: no role of one is assumed from another, and no event is forwarded (IAM user guide,
// "AWS JSON policy elements: Principal": principals are of the same partition).

// withoutFunctionURLs are the regions of AWS's own partition in which Lambda has no function
// URLs (Lambda developer guide, "Creating and managing Lambda function URLs", note). No region
// in China has them ("Getting Started with Amazon Web Services in China", Amazon Lambda); those
// of GovCloud do.
func withoutFunctionURLs(region string) bool {
	return spoke.Partition(region) == "aws-cn" || slices.Contains([]string{
		"ap-east-2", "ap-south-2", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
		"ca-west-1", "eu-central-2", "eu-south-2", "il-central-1", "me-central-1",
	}, region)
}

// lacking says what the settings want and the region does not have, each with the way
// around. What AWS has added since is not refused: CloudFormation has the last word.
func lacking(region string, chosen settings.Settings) []string {
	var list []string
	if chosen.Environment[config.SlackActions] == "on" && withoutFunctionURLs(region) {
		instead := "Deploy with slackActions=off: messages then have no buttons, and each still has the commands that do what a button would."
		if spoke.Partition(region) == "aws" {
			instead += " Or deploy the hub in a region that has them, and watch " + region + " as its spoke (docs/deploy.md)."
		}
		list = append(list, fmt.Sprintf("slackActions=on: Lambda has no function URLs in %s, so Slack's buttons have no address there."+
			" CloudFormation refuses the template (\"Unrecognized resource types: [AWS::Lambda::Url]\"). %s", region, instead))
	}
	return list
}

// apart refuses spokes of another partition than the hub's.
func apart(region string, chosen settings.Settings) error {
	var other []string
	for _, s := range chosen.Spokes {
		if s.Partition() != spoke.Partition(region) {
			other = append(other, s.ID.String())
		}
	}
	if len(other) == 0 {
		return nil
	}
	return fmt.Errorf("spokes: %s cannot be watched from %s: no role is assumed and no event is forwarded from one partition to another."+
		" Take it out of spokes, and deploy a hub of its own there",
		strings.Join(other, ", "), region)
}

// policyLister is the part of EKS that knows the access policies.
type policyLister interface {
	ListAccessPolicies(context.Context, *eks.ListAccessPoliciesInput, ...func(*eks.Options)) (*eks.ListAccessPoliciesOutput, error)
}

// wantedPolicies are those that the stack gives the reader where kubernetesAccess=policy.
func wantedPolicies() []string { return []string{settings.AssistantPolicy, settings.ViewPolicy} }

// missingPolicies refuses access policies that EKS does not have in the region: the access
// entries would fail, and roll the stack back. That EKS could not be asked is said.
func missingPolicies(ctx context.Context, api policyLister, region string, chosen settings.Settings) (say string, err error) {
	if chosen.Access != settings.AccessPolicy || len(entries(chosen)) == 0 {
		return "", nil
	}
	missing := wantedPolicies()
	for in := (&eks.ListAccessPoliciesInput{}); ; {
		out, err := api.ListAccessPolicies(ctx, in)
		if err != nil {
			return fmt.Sprintf("Not checked: whether EKS in %s has the access policies %s (eks:ListAccessPolicies: %v).\n", region, strings.Join(wantedPolicies(), " and "), err), nil
		}
		for _, p := range out.AccessPolicies {
			missing = slices.DeleteFunc(missing, func(name string) bool { return p.Name != nil && *p.Name == name })
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	return "", fmt.Errorf("EKS in %s has no access policy %s (aws eks list-access-policies --region %s):"+
		" add kubernetesAccess=group to SET, and run the output ClusterRoleCommand after the deployment",
		region, strings.Join(missing, " and no "), region)
}

// concurrencyReader is the part of Lambda that knows how many invocations run at once.
type concurrencyReader interface {
	GetAccountSettings(context.Context, *lambda.GetAccountSettingsInput, ...func(*lambda.Options)) (*lambda.GetAccountSettingsOutput, error)
	GetFunctionConcurrency(context.Context, *lambda.GetFunctionConcurrencyInput, ...func(*lambda.Options)) (*lambda.GetFunctionConcurrencyOutput, error)
}

// unreserved is what Lambda keeps for functions without reserved concurrency (Lambda developer
// guide, "Configuring reserved concurrency for a function": "You can reserve up to the
// Unreserved account concurrency value minus 100").
const unreserved = 100

// concurrency refuses the concurrency that slack-actions reserves where the account's has not
// enough: new accounts may have 10, and the stack would roll back. That Lambda could not be
// asked is said.
func concurrency(ctx context.Context, api concurrencyReader, region string, chosen settings.Settings) (say string, err error) {
	if chosen.Environment[config.SlackActions] != "on" {
		return "", nil
	}
	account, err := api.GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil || account.AccountLimit == nil {
		return fmt.Sprintf("Not checked: whether Lambda in %s has the concurrency that slackActions=on reserves (lambda:GetAccountSettings: %v).\n", region, err), nil
	}
	var function string
	var wanted int32
	for _, s := range specs.Deployed(specs.All(), chosen.Environment) {
		if s.URL != nil {
			function, wanted = chosen.Prefix()+"-"+s.Name, int32(s.URL.Concurrency)
		}
	}
	reserved, err := api.GetFunctionConcurrency(ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: &function})
	var none *lambdatypes.ResourceNotFoundException
	switch {
	case err != nil && !errors.As(err, &none):
		return fmt.Sprintf("Not checked: whether Lambda in %s has the concurrency that slackActions=on reserves (lambda:GetFunctionConcurrency on %s: %v).\n", region, function, err), nil
	case err == nil:
		wanted -= min(wanted, aws.ToInt32(reserved.ReservedConcurrentExecutions))
	}
	if left := aws.ToInt32(account.AccountLimit.UnreservedConcurrentExecutions); wanted > 0 && left < unreserved+wanted {
		return "", fmt.Errorf("slackActions=on reserves %d concurrent executions, and Lambda in %s has %d that are not reserved, of which %d must stay so: the whole stack would roll back."+
			" Have the quota \"Concurrent executions\" of AWS Lambda raised by %d or more first (Service Quotas; new accounts have 10, AWS answers within days), or deploy with slackActions=off",
			wanted, region, left, unreserved, unreserved+wanted-left)
	}
	return "", nil
}
