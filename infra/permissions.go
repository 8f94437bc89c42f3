package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/spec"
)

// The statements that every function has beside those of its spec.
const (
	sidLogs     = "WriteLogs"
	sidQueue    = "TakeMessages"
	sidFailures = "KeepFailures"
	sidDecrypt  = "DecryptSlackToken"
	sidSigning  = "DecryptSigningSecret"
	sidTargets  = "DecryptTargetSecrets"
)

// statement is one statement that allows something, or denies it.
type statement struct {
	sid        string
	deny       bool
	actions    []string
	resources  []string
	conditions map[string]map[string][]string
}

// permissions is all that a function may do: its own log group and queues,
// and what its spec says, what hangs on settings last.
func permissions(function spec.Spec, r resources, chosen settings.Settings, logGroup, failed string) ([]statement, error) {
	list := []statement{
		{sid: sidLogs, actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, resources: []string{logGroup}},
		{sid: sidFailures, actions: []string{"sqs:SendMessage"}, resources: []string{failed}},
	}
	if function.Queue != nil {
		own, err := r.arn(function.Queue.Resource)
		if err != nil {
			return nil, err
		}
		// What Lambda's poller does in the function's name (AWSLambdaSQSQueueExecutionRole).
		list = append(list, statement{sid: sidQueue, actions: []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}, resources: []string{own}})
	}
	reads, err := readStatements(function.Reads, r)
	if err != nil {
		return nil, err
	}
	all, err := grantsOf(function, chosen)
	if err != nil {
		return nil, err
	}
	grants, err := grantStatements(all, r)
	if err != nil {
		return nil, err
	}
	assumes, err := assumeStatements(function, chosen)
	if err != nil {
		return nil, err
	}
	decrypts, err := targetSecrets(function, chosen)
	if err != nil {
		return nil, err
	}
	return slices.Concat(list, reads, grants, decrypts, assumes), nil
}

// targetSecrets lets a function that reads the secrets of targets decrypt them where they
// are under a customer key. Each is named; the key may be other secrets' too.
func targetSecrets(function spec.Spec, chosen settings.Settings) ([]statement, error) {
	if chosen.TargetSecretKMSKey == "" || function.Chosen == nil {
		return nil, nil
	}
	chose, err := function.Chosen(func(name string) string { return chosen.Environment[spec.Variable(name)] })
	if err != nil {
		return nil, fmt.Errorf("the grants that depend on settings: %w", err)
	}
	var secrets []string
	for _, g := range chose {
		if !slices.Contains(g.Actions, "secretsmanager:GetSecretValue") {
			continue
		}
		for _, name := range g.Resources {
			arn, err := filled(string(name))
			if err != nil {
				return nil, fmt.Errorf("grant %s: %w", g.Sid, err)
			}
			secrets = append(secrets, arn)
		}
	}
	if len(secrets) == 0 {
		return nil, nil
	}
	return []statement{{
		sid: sidTargets, actions: []string{"kms:Decrypt"}, resources: []string{chosen.TargetSecretKMSKey},
		// As for Slack's token below. A secret's ARN ends in six characters that nobody knows
		// before it is made.
		conditions: map[string]map[string][]string{
			"StringEquals": {"kms:ViaService": {fmt.Sprintf("secretsmanager.%s.%s", *awscdk.Aws_REGION(), *awscdk.Aws_URL_SUFFIX())}},
			"StringLike":   {"kms:EncryptionContext:SecretARN": secrets},
		},
	}}, nil
}

// grantsOf are a function's writes, those among them that depend on what the
// operator chose.
func grantsOf(function spec.Spec, chosen settings.Settings) ([]spec.Grant, error) {
	if function.Chosen == nil {
		return function.Grants, nil
	}
	more, err := function.Chosen(func(name string) string { return chosen.Environment[spec.Variable(name)] })
	if err != nil {
		return nil, fmt.Errorf("the grants that depend on settings: %w", err)
	}
	return slices.Concat(function.Grants, more), nil
}

func readStatements(reads []spec.Read, r resources) ([]statement, error) {
	var list []statement
	count := map[string]int{}
	for _, read := range reads {
		s := statement{actions: read.Actions}
		for _, text := range read.Resources {
			arn, err := r.readable(text)
			if err != nil {
				return nil, fmt.Errorf("read %v: %w", read.Actions, err)
			}
			s.resources = append(s.resources, arn)
		}
		if len(s.actions) == 0 || len(s.resources) == 0 {
			continue
		}
		s.sid = readSid(s)
		if count[s.sid]++; count[s.sid] > 1 {
			s.sid += fmt.Sprint(count[s.sid])
		}
		list = append(list, s)
	}
	return list, nil
}

// readSid names a statement by its service; those whose actions take no
// resource are of several services.
func readSid(s statement) string {
	if slices.Contains(s.resources, "*") {
		return "ReadWhatTakesNoResource"
	}
	service, _, _ := strings.Cut(s.actions[0], ":")
	return "Read" + camel(service)
}

// readable resolves what stands in Read.Resources: "*", the name of one of
// the stack's resources, or an ARN with places to fill in.
func (r resources) readable(text string) (string, error) {
	if text == "*" {
		return text, nil
	}
	if !strings.HasPrefix(text, "arn:") {
		return r.arn(spec.Resource(text))
	}
	return filled(text)
}

// filled fills in the places of an ARN.
func filled(text string) (string, error) {
	filled := strings.NewReplacer(
		"${Partition}", *awscdk.Aws_PARTITION(),
		"${Region}", *awscdk.Aws_REGION(),
		"${Account}", *awscdk.Aws_ACCOUNT_ID(),
	).Replace(text)
	// What is left of the form ${Name} is a place that nobody fills in; CDK's
	// own tokens are of the form ${Token[…]}.
	for rest := filled; ; {
		_, after, found := strings.Cut(rest, "${")
		if !found {
			return filled, nil
		}
		if !strings.HasPrefix(after, "Token[") {
			return "", fmt.Errorf("%s: only ${Partition}, ${Region} and ${Account} are filled in", text)
		}
		rest = after
	}
}

// writable resolves what stands in Grant.Resources: "*" for actions that take no
// resource alone, which the table of the service authorization reference tells.
func (r resources) writable(name spec.Resource) (string, error) {
	if name == spec.NoResource {
		return string(name), nil
	}
	if strings.HasPrefix(string(name), "arn:") {
		return filled(string(name))
	}
	return r.arn(name)
}

func filledConditions(conditions map[string]map[string][]string) (map[string]map[string][]string, error) {
	out := map[string]map[string][]string{}
	for operator, keys := range conditions {
		out[operator] = map[string][]string{}
		for key, values := range keys {
			for _, v := range values {
				text, err := filled(v)
				if err != nil {
					return nil, err
				}
				out[operator][key] = append(out[operator][key], text)
			}
		}
	}
	return out, nil
}

func grantStatements(grants []spec.Grant, r resources) ([]statement, error) {
	var list []statement
	for _, g := range grants {
		s := statement{sid: g.Sid, actions: g.Actions}
		for _, name := range g.Resources {
			arn, err := r.writable(name)
			if err != nil {
				return nil, fmt.Errorf("grant %s: %w", g.Sid, err)
			}
			s.resources = append(s.resources, arn)
		}
		var err error
		if s.conditions, err = filledConditions(g.Conditions); err != nil {
			return nil, fmt.Errorf("grant %s: %w", g.Sid, err)
		}
		list = append(list, s)
		// A secret under a customer key is read only by who may use the key.
		for _, own := range []struct {
			secret spec.Resource
			sid    string
		}{{spec.SlackSecret, sidDecrypt}, {spec.SigningSecret, sidSigning}} {
			if s := r.secrets[own.secret]; s.key != "" && slices.Contains(g.Resources, own.secret) {
				list = append(list, statement{
					sid:       own.sid,
					actions:   []string{"kms:Decrypt"},
					resources: []string{s.key},
					// Secrets Manager decrypts with the context {"SecretARN": the secret's whole
					// ARN, "SecretVersionId": …}, and through it alone
					// (docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html,
					// "Secrets Manager encryption context"): the key may be other secrets' too.
					conditions: map[string]map[string][]string{"StringEquals": {
						"kms:ViaService": {s.service}, "kms:EncryptionContext:SecretARN": {s.arn},
					}},
				})
			}
		}
	}
	return list, nil
}

// document is the statements as they are: not merged, so that each keeps its
// Sid and can be found by it.
func document(list []statement) awsiam.PolicyDocument {
	doc := awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Minimize: jsii.Bool(false)})
	for _, s := range list {
		props := &awsiam.PolicyStatementProps{
			Sid:       jsii.String(s.sid),
			Actions:   jsii.Strings(s.actions...),
			Resources: jsii.Strings(s.resources...),
		}
		if s.deny {
			props.Effect = awsiam.Effect_DENY
		}
		if len(s.conditions) > 0 {
			conditions := map[string]any{}
			for operator, keys := range s.conditions {
				values := map[string]any{}
				for key, list := range keys {
					values[key] = jsii.Strings(list...)
				}
				conditions[operator] = values
			}
			props.Conditions = &conditions
		}
		doc.AddStatements(awsiam.NewPolicyStatement(props))
	}
	return doc
}
