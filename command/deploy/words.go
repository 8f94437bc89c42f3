package deploy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
)

// lost is what a user loses when a resource is replaced, by its type; "" is nothing.
func lost(kind string) string {
	return map[string]string{
		"AWS::DynamoDB::Table":        "launches and incidents so far are no longer used: the history begins again (the old table stays)",
		"AWS::SecretsManager::Secret": "the Slack token or signing secret has to be stored again",
		"AWS::SQS::Queue":             "messages that wait in it are lost",
		"AWS::IAM::Role":              "access entries and trust policies made by hand for it stop working",
		"AWS::Lambda::Url":            "Slack has to be given the new address of its buttons",
		"AWS::S3::Bucket":             "evidence so far is no longer used (the old bucket stays)",
		"AWS::Events::EventBus":       "rules that others have made on it are lost",
		"AWS::SNS::Topic":             "its subscribers have to be subscribed again",
	}[kind]
}

// most is how many resources of one action are listed; of more, how many of each type.
const most = 20

// changeTable prints what a change set would do.
func changeTable(list []types.Change) string {
	byAction := map[string][]*types.ResourceChange{}
	for _, c := range list {
		if r := c.ResourceChange; r != nil {
			action := strings.ToLower(string(r.Action))
			if r.Action == types.ChangeActionModify && r.Replacement != types.ReplacementFalse {
				action = "replace"
			}
			byAction[action] = append(byAction[action], r)
		}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, action := range slices.Sorted(maps.Keys(byAction)) {
		rows := byAction[action]
		if len(rows) > most && action != "replace" && action != "remove" {
			counts := map[string]int{}
			for _, r := range rows {
				counts[aws.ToString(r.ResourceType)]++
			}
			for _, kind := range slices.Sorted(maps.Keys(counts)) {
				fmt.Fprintf(w, "  %s\t%d\t%s\n", action, counts[kind], kind)
			}
			continue
		}
		for _, r := range rows {
			note := ""
			if action == "replace" {
				if note = lost(aws.ToString(r.ResourceType)); note != "" && r.Replacement == types.ReplacementConditional {
					note = "perhaps: " + note
				}
			}
			if r.PolicyAction == types.PolicyActionRetain {
				note = "leaves the stack and stays in the account"
			}
			fmt.Fprintf(w, "  %s\t%s\t%s", action, aws.ToString(r.ResourceType), aws.ToString(r.LogicalResourceId))
			if note != "" {
				fmt.Fprintf(w, "\t%s", note)
			}
			fmt.Fprintln(w)
		}
	}
	_ = w.Flush() // into memory
	return b.String()
}

// Failure is why a resource of a stack failed.
type Failure struct {
	Resource, Type, Reason string
	// Code is the error code of the resource's handler, "" where there is none.
	Code string
	// Do is what to do about it.
	Do string
}

// handlerCode is how CloudFormation writes the code of a handler's error (CloudFormation CLI user
// guide, "Handler error codes"): the events have no field for it.
func handlerCode(reason string) string {
	if m := regexp.MustCompile(`HandlerErrorCode: (\w+)`).FindStringSubmatch(reason); m != nil {
		return m[1]
	}
	return ""
}

// canceled is the reason of a resource that was stopped because another one failed; it has no code
// of its own (CloudFormation user guide, "Troubleshooting CloudFormation").
func canceled(reason string) bool {
	return slices.Contains([]string{"Resource creation cancelled", "Resource update cancelled", "Resource deletion cancelled"}, reason)
}

// failures are the failed resources among events, oldest first, without those that were canceled.
func failures(events []types.StackEvent) (list []Failure) {
	for _, e := range events {
		reason, kind := aws.ToString(e.ResourceStatusReason), aws.ToString(e.ResourceType)
		if !strings.HasSuffix(string(e.ResourceStatus), "_FAILED") || canceled(reason) || kind == "AWS::CloudFormation::Stack" {
			continue
		}
		f := Failure{Resource: aws.ToString(e.LogicalResourceId), Type: kind, Reason: reason, Code: handlerCode(reason)}
		f.Do = remedy(f, e.ResourceStatus)
		list = append(list, f)
	}
	return list
}

// remedy is what to do about a failure.
func remedy(f Failure, status types.ResourceStatus) string {
	switch {
	case f.Type == "AWS::S3::Bucket" && status == types.ResourceStatusDeleteFailed:
		return "Empty the bucket, and run the command again."
	case f.Code == "AlreadyExists" && f.Type == "AWS::DynamoDB::Table":
		return "The table of an earlier deployment still exists. Delete it (its history is lost), or deploy under another name with --stack-name."
	case f.Code == "AlreadyExists" && f.Type == "AWS::SecretsManager::Secret":
		return "The secret of an earlier deployment still exists. Use it with --set slackSecretArn=ARN, or delete it."
	case f.Code == "AlreadyExists" && f.Type == "AWS::EKS::AccessEntry":
		return "An access entry for this role was made by hand. Delete it (aws eks delete-access-entry), and run the command again."
	case f.Code == "AlreadyExists":
		return "Something else in the account has this name. Delete it, or deploy under another name with --stack-name."
	case f.Code == "AccessDenied":
		return "Your credentials, a permissions boundary or a service control policy of the organization does not allow it. Ask for the permission, or deploy with credentials that have it."
	case f.Type == "AWS::EKS::AccessEntry" && f.Code == "NotFound":
		return "EKS has no such cluster here. Correct --clusters (aws eks list-clusters)."
	case f.Type == "AWS::EKS::AccessEntry":
		return "EKS rejects access entries in clusters in authentication mode CONFIG_MAP. Name the cluster in --set configMapClusters=NAME, and add the lines of the output AwsAuthRoles to its aws-auth."
	case f.Type == "AWS::Lambda::Function" && f.Code == "InvalidRequest":
		return "Lambda did not accept the function's settings or could not read its code. Run the command again: it uploads what is missing."
	case f.Code == "ServiceLimitExceeded":
		return "Request a higher quota (Service Quotas), and run the command again."
	case f.Code == "Throttling", f.Code == "ServiceInternalError", f.Code == "NetworkFailure", f.Code == "NotStabilized":
		return "Run the command again."
	}
	return "Fix it, and run the command again."
}

// failureText prints failures.
func failureText(list []Failure) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s (%s) failed: %s\n  %s\n", f.Resource, f.Type, f.Reason, f.Do)
	}
	return b.String()
}

// progress is one line about an event of a stack.
func progress(e types.StackEvent) string {
	line := fmt.Sprintf("%s  %-22s %s %s", e.Timestamp.UTC().Format("15:04:05"), e.ResourceStatus, aws.ToString(e.ResourceType), aws.ToString(e.LogicalResourceId))
	if reason := aws.ToString(e.ResourceStatusReason); reason != "" && reason != "User Initiated" {
		line += ": " + reason
	}
	return line
}
