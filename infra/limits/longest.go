package limits

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The longest values of what a template does not know. Partitions:
// aws-us-gov; regions: ap-southeast-1 and others; names that CloudFormation
// makes: stack (30 characters at most, package settings), logical id and 13
// random characters, joined by hyphens.
const (
	partition = "aws-us-gov"
	region    = "ap-southeast-1"
	account   = "123456789012"
	suffix    = "amazonaws.com.cn"
	stack     = "stack-name-of-thirty-character"
	random    = "1ABCDEFGHIJKL"
)

// longest writes values with their references as long as they can get.
type longest struct{ resources map[string]resource }

// size is the characters of a value in JSON, without white space.
func (l longest) size(v any) int {
	if v == nil {
		return 0
	}
	return size(l.fill(v))
}

func size(v any) int {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("limits: what was read as JSON cannot be written as JSON: " + err.Error())
	}
	return utf8.RuneCountInString(strings.TrimSpace(b.String()))
}

func (l longest) fill(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = l.fill(x)
		}
		return out
	case map[string]any:
		if id, ok := v["Ref"].(string); ok && len(v) == 1 {
			return l.ref(id)
		}
		if at, ok := v["Fn::GetAtt"].([]any); ok && len(at) == 2 {
			id, _ := at[0].(string)
			return l.arn(id)
		}
		if join, ok := v["Fn::Join"].([]any); ok && len(join) == 2 {
			parts, _ := join[1].([]any)
			var b strings.Builder
			for _, part := range parts {
				text, _ := l.fill(part).(string)
				b.WriteString(text)
			}
			return b.String()
		}
		out := map[string]any{}
		for key, x := range v {
			out[key] = l.fill(x)
		}
		return out
	}
	return v
}

func (l longest) ref(id string) string {
	switch id {
	case "AWS::Partition":
		return partition
	case "AWS::Region":
		return region
	case "AWS::AccountId":
		return account
	case "AWS::URLSuffix":
		return suffix
	}
	switch l.resources[id].Type {
	case "AWS::SQS::Queue":
		return "https://sqs." + region + "." + suffix + "/" + account + "/" + l.name(id)
	case "AWS::SecretsManager::Secret", "AWS::SNS::Topic":
		return l.arn(id)
	}
	return l.name(id)
}

// arn is longer than any of the types that the template has: its longest parts
// are a service's name and a kind of resource ("secretsmanager", "log-group").
func (l longest) arn(id string) string {
	return "arn:" + partition + ":secretsmanager:" + region + ":" + account + ":event-bus/" + l.name(id) + ":*-AbCdEf"
}

func (l longest) name(id string) string {
	for _, key := range []string{"QueueName", "FunctionName", "LogGroupName", "TableName", "Name"} {
		if name, ok := l.resources[id].Properties[key].(string); ok {
			return name
		}
	}
	return stack + "-" + id + "-" + random
}

// Statement is the size of a policy's statement in which tokens of the CDK
// stand for what is not known yet.
func Statement(effect, sid string, actions, resources []string, conditions map[string]map[string][]string) int {
	s := map[string]any{"Sid": sid, "Effect": effect, "Action": actions, "Resource": untokened(resources)}
	if len(conditions) > 0 {
		filled := map[string]map[string][]string{}
		for operator, keys := range conditions {
			filled[operator] = map[string][]string{}
			for key, values := range keys {
				filled[operator][key] = untokened(values)
			}
		}
		s["Condition"] = filled
	}
	return size(s) + len(",")
}

// Document is the size of what stands around a policy's statements.
const Document = len(`{"Version":"2012-10-17","Statement":[]}`)

func untokened(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Untokened(text)
	}
	return out
}

// Untokened is a text with the longest values for the CDK's tokens
// ("${Token[AWS.Region.4]}").
func Untokened(text string) string {
	const open = "${Token["
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, open)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "]}")
		switch {
		case strings.HasPrefix(name, "AWS.Partition."):
			b.WriteString(partition)
		case strings.HasPrefix(name, "AWS.Region."):
			b.WriteString(region)
		case strings.HasPrefix(name, "AWS.AccountId."):
			b.WriteString(account)
		default:
			// A resource's ARN or address.
			b.WriteString(longest{}.arn("LogicalIdWithItsHash12345678"))
		}
		text = after
	}
}
