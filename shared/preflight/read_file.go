package preflight

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Misunderstood is a file that holds nothing that can be made, or not in the
// form in which AWS or Kubernetes takes it. Its text is one line.
type Misunderstood struct {
	// At is the field, "scalingConfig.minSize"; empty for the whole file.
	At  string
	Why string
}

func (m *Misunderstood) Error() string {
	if m.At == "" {
		return m.Why
	}
	return m.At + ": " + m.Why
}

func misunderstood(at, format string, args ...any) error {
	return &Misunderstood{At: at, Why: fmt.Sprintf(format, args...)}
}

// most is how large a file may be: the largest that AWS takes of these is user
// data of 16 KiB and a little around it.
const most = 1 << 20

// whatFits ends a line that says what a file is not.
const whatFits = "want what `aws eks create-nodegroup`, `aws ec2 create-launch-template-version` or `aws ec2 create-subnet` takes with --cli-input-json, " +
	"or a manifest of a NodePool with its EC2NodeClass or NodeClass"

// Parse reads what is to be made. The error is a *Misunderstood.
func Parse(data []byte) (Plan, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	switch {
	case len(data) == 0:
		return Plan{}, misunderstood("", "the file is empty: %s", whatFits)
	case len(data) > most:
		return Plan{}, misunderstood("", "the file is larger than %d KiB: %s", most>>10, whatFits)
	case data[0] != '{':
		return parseManifests(data)
	}
	return parseJSON(data)
}

// parseJSON tells by the fields that only one of them has what a document is.
func parseJSON(data []byte) (Plan, error) {
	var tree map[string]any
	if err := decodeOne(data, &tree); err != nil {
		return Plan{}, err
	}
	has := func(key string) bool { _, ok := tree[key]; return ok }
	kinds := 0
	for _, one := range []bool{has("nodegroupName") || has("nodeRole"), has("LaunchTemplateData") || has("LaunchTemplateVersions"), has("CidrBlock"), has("apiVersion")} {
		if one {
			kinds++
		}
	}
	switch {
	case kinds > 1:
		return Plan{}, misunderstood("", "it holds two kinds of things at once: put each into a file of its own; %s", whatFits)
	case has("apiVersion"):
		return parseManifests(data)
	case has("nodegroup"):
		return Plan{}, misunderstood("nodegroup", "it is what describe-nodegroup printed, and this nodegroup exists: %s", whatFits)
	case has("nodegroupName") || has("nodeRole"):
		return parseNodegroup(data, tree)
	case has("LaunchTemplateData") || has("LaunchTemplateVersions"):
		return parseTemplate(data, tree)
	case has("Subnets"):
		return Plan{}, misunderstood("Subnets", "it is what describe-subnets printed, and these subnets exist: name one by its id, with -subnet")
	case has("CidrBlock") || has("VpcId"):
		return parseSubnet(data, tree)
	}
	return Plan{}, misunderstood("", "it is none of what can be judged before it is made: %s", whatFits)
}

func parseNodegroup(data []byte, tree map[string]any) (Plan, error) {
	var n NodegroupPlan
	if err := strict(data, tree, &n, "create-nodegroup"); err != nil {
		return Plan{}, err
	}
	// The four that the request model requires.
	for _, f := range []struct {
		name  string
		lacks bool
	}{{"clusterName", n.ClusterName == ""}, {"nodegroupName", n.NodegroupName == ""}, {"subnets", len(n.Subnets) == 0}, {"nodeRole", n.NodeRole == ""}} {
		if f.lacks {
			return Plan{}, misunderstood(f.name, "create-nodegroup requires it")
		}
	}
	return Plan{Kind: Nodegroup, Name: n.NodegroupName, Cluster: n.ClusterName, Nodegroup: &n}, nil
}

// decodeOne decodes one JSON document, and tells where it is none.
func decodeOne(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	err := d.Decode(into)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return misunderstood("", "it is not JSON: line %d: %v", line(data, syntax.Offset), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return misunderstood("", "it is not JSON: it ends too early")
	case err != nil:
		return misunderstood("", "it is not JSON: %v", err)
	}
	if d.More() {
		return misunderstood("", "it holds more than one JSON document")
	}
	return nil
}

func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// strict decodes a document in which every field must be one that the operation
// has, in its very letters: the AWS CLI refuses others ("Unknown parameter in input").
func strict(data []byte, tree any, into any, operation string) error {
	if at, ok := unknownField(tree, reflect.TypeOf(into).Elem(), ""); ok {
		return misunderstood(at, "%s has no such field", operation)
	}
	err := json.Unmarshal(data, into)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return misunderstood(kind.Field, "want %s, got %s", plainType(kind.Type), kind.Value)
	}
	if err != nil {
		return misunderstood("", "it is not JSON: %v", err)
	}
	return nil
}

func plainType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return plainType(t.Elem())
	}
	return t.String()
}

// unknownField is the first field, in the order of letters, that a type has not.
func unknownField(tree any, t reflect.Type, at string) (string, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := tree.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return "", false
		}
		for i, item := range v {
			if name, ok := unknownField(item, t.Elem(), fmt.Sprintf("%s[%d]", at, i)); ok {
				return name, true
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return "", false
		}
		for _, key := range sortedKeys(v) {
			f, ok := fieldNamed(t, key)
			if !ok {
				return strings.TrimPrefix(at+"."+key, "."), true
			}
			if name, ok := unknownField(v[key], f.Type, strings.TrimPrefix(at+"."+key, ".")); ok {
				return name, true
			}
		}
	}
	return "", false
}

func fieldNamed(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == key && name != "-" && t.Field(i).IsExported() {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
