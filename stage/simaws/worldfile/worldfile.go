package worldfile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"rollcall/shared/capture"
)

// FieldError says where in a file a value does not fit.
type FieldError struct {
	// File is the file's name, empty for input that came from no file.
	File string
	// Path is the way to the field, for example "ec2.Subnets[2].CidrBlok".
	Path string
	// Problem is what is wrong with it.
	Problem string
}

// Error names file, path and problem.
func (e *FieldError) Error() string {
	if e.File == "" {
		return e.Path + ": " + e.Problem
	}
	return e.File + ": " + e.Path + ": " + e.Problem
}

// decode fills dst from a generic tree of maps, lists, strings, json.Number
// and bool. Field names are compared without case, because the CLI prints the
// API's names (EKS in lower camel case) and Go's differ from them in case
// only. A field that dst does not have is an error: a typing mistake in a
// world must not pass as a world that lacks the thing.
func decode(dst any, src any, path string) error {
	return decodeValue(reflect.ValueOf(dst).Elem(), src, path, false)
}

func decodeValue(dst reflect.Value, src any, path string, iam bool) error {
	if src == nil {
		return nil
	}
	switch dst.Type() {
	case reflect.TypeFor[time.Time]():
		t, err := decodeTime(src)
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.Set(reflect.ValueOf(t))
		return nil
	case reflect.TypeFor[time.Duration]():
		s, ok := src.(string)
		if !ok {
			return &FieldError{Path: path, Problem: "want a duration such as 30s"}
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetInt(int64(d))
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		v := reflect.New(dst.Type().Elem())
		if err := decodeValue(v.Elem(), src, path, iam); err != nil {
			return err
		}
		dst.Set(v)
		return nil
	case reflect.Interface:
		if dst.NumMethod() > 0 {
			return &FieldError{Path: path, Problem: "this field cannot be given in a world"}
		}
		dst.Set(reflect.ValueOf(src))
		return nil
	case reflect.Struct:
		return decodeStruct(dst, src, path)
	case reflect.Slice:
		return decodeSlice(dst, src, path, iam)
	case reflect.Map:
		return decodeMap(dst, src, path, iam)
	default:
		return decodeScalar(dst, src, path, iam)
	}
}

func decodeStruct(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return &FieldError{Path: path, Problem: "want a mapping, got " + kindName(src)}
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		at := join(path, key)
		f, owner, ok := fieldNamed(dst, key)
		if !ok {
			return &FieldError{Path: at, Problem: "unknown field"}
		}
		iam := strings.HasSuffix(owner.PkgPath(), "/service/iam/types")
		if err := decodeValue(f, m[key], at, iam); err != nil {
			return err
		}
	}
	return nil
}

// fieldNamed finds the exported field called name, without case, looking
// through embedded structs, and the struct that has it.
func fieldNamed(v reflect.Value, name string) (reflect.Value, reflect.Type, bool) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if found, owner, ok := fieldNamed(v.Field(i), name); ok {
				return found, owner, true
			}
			continue
		}
		if strings.EqualFold(f.Name, name) {
			return v.Field(i), t, true
		}
	}
	return reflect.Value{}, nil, false
}

func decodeSlice(dst reflect.Value, src any, path string, iam bool) error {
	if dst.Type().Elem().Kind() == reflect.Uint8 {
		s, ok := src.(string)
		if !ok {
			return &FieldError{Path: path, Problem: "want base64 text, got " + kindName(src)}
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetBytes(b)
		return nil
	}
	list, ok := src.([]any)
	if !ok {
		return &FieldError{Path: path, Problem: "want a list, got " + kindName(src)}
	}
	out := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, item := range list {
		if err := decodeValue(out.Index(i), item, fmt.Sprintf("%s[%d]", path, i), iam); err != nil {
			return err
		}
	}
	dst.Set(out)
	return nil
}

func decodeMap(dst reflect.Value, src any, path string, iam bool) error {
	m, ok := src.(map[string]any)
	if !ok {
		return &FieldError{Path: path, Problem: "want a mapping, got " + kindName(src)}
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := decodeValue(v, m[key], join(path, key), iam); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), v)
	}
	dst.Set(out)
	return nil
}

func decodeScalar(dst reflect.Value, src any, path string, iam bool) error {
	bad := &FieldError{Path: path, Problem: "want a " + dst.Kind().String() + ", got " + kindName(src)}
	switch dst.Kind() {
	case reflect.String:
		s, ok := decodeString(src, path, iam)
		if !ok {
			return bad
		}
		dst.SetString(s)
	case reflect.Bool:
		b, ok := src.(bool)
		if !ok {
			return bad
		}
		dst.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, ok := src.(json.Number)
		if !ok {
			return bad
		}
		i, err := strconv.ParseInt(n.String(), 10, dst.Type().Bits())
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetInt(i)
	case reflect.Float32, reflect.Float64:
		n, ok := src.(json.Number)
		if !ok {
			return bad
		}
		f, err := n.Float64()
		if err != nil {
			return &FieldError{Path: path, Problem: err.Error()}
		}
		dst.SetFloat(f)
	default:
		return &FieldError{Path: path, Problem: "this field cannot be given in a world"}
	}
	return nil
}

// decodeString also takes a number (an account id without quotes) and, for a
// policy document, a mapping: the CLI prints IAM's documents decoded, while
// the API carries them as URL-encoded JSON.
func decodeString(src any, path string, iam bool) (string, bool) {
	switch v := src.(type) {
	case string:
		if iam && strings.HasSuffix(path, "Document") && strings.HasPrefix(strings.TrimSpace(v), "{") {
			return url.PathEscape(v), true
		}
		return v, true
	case json.Number:
		return v.String(), true
	case map[string]any:
		if !strings.HasSuffix(path, "Document") {
			return "", false
		}
		b, err := json.Marshal(v)
		if err != nil {
			return "", false
		}
		if iam {
			return url.PathEscape(string(b)), true
		}
		return string(b), true
	}
	return "", false
}

// timeLayouts are the forms in which the CLI's versions print a time.
func timeLayouts() []string {
	return []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05Z07:00", time.DateOnly}
}

// maxEpoch is the last second that time.Time prints with four digits of year.
const maxEpoch = 253402300799

func decodeTime(src any) (time.Time, error) {
	switch v := src.(type) {
	case string:
		for _, layout := range timeLayouts() {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC(), nil
			}
		}
		return time.Time{}, fmt.Errorf("%q is not a time", v)
	case json.Number:
		f, err := v.Float64()
		if err != nil || math.Abs(f) > maxEpoch {
			return time.Time{}, fmt.Errorf("%q is not a time in seconds", v.String())
		}
		sec, frac := math.Modf(f)
		return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("want a time, got %s", kindName(src))
}

func kindName(src any) string {
	switch src.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "a yes or no"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprintf("%T", src)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// maxExtends bounds how deep worlds may extend each other.
const maxExtends = 8

// maxWorld bounds a world's file: the largest has some hundred KiB.
const maxWorld = 4 << 20

// reader reads a world's file by its path.
type reader func(path string) ([]byte, error)

// Load reads a world file and the files it extends.
func Load(path string) (*File, error) {
	return load(path, func(path string) ([]byte, error) { return readRegular(path, maxWorld) })
}

// LoadIn is Load of a file below a root: it extends nothing that is not below it too.
func LoadIn(root *os.Root, path string) (*File, error) {
	return load(path, func(path string) ([]byte, error) { return capture.ReadRegular(root, path, maxWorld) })
}

func load(path string, read reader) (*File, error) {
	tree, err := loadTree(path, read, maxExtends)
	if err != nil {
		return nil, err
	}
	return fileOfTree(path, tree)
}

// Parse reads a world that extends no other from memory; name is for errors.
func Parse(name string, data []byte) (*File, error) {
	tree, err := treeOfYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, ok := tree["extends"]; ok {
		return nil, &FieldError{File: name, Path: "extends", Problem: "only a file can extend another"}
	}
	return fileOfTree(name, tree)
}

func loadTree(path string, read reader, depth int) (map[string]any, error) {
	if depth == 0 {
		return nil, &FieldError{File: path, Path: "extends", Problem: "worlds extend each other too deeply"}
	}
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read world: %w", err)
	}
	tree, err := treeOfYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Checked before merging, so that an error names the file it is in.
	part, err := fileOfTree(path, withoutDeleted(tree).(map[string]any))
	if err != nil {
		return nil, err
	}
	if part.Extends == "" {
		return tree, nil
	}
	if ext := filepath.Ext(part.Extends); filepath.IsAbs(part.Extends) || ext != ".yaml" && ext != ".yml" {
		return nil, &FieldError{File: path, Path: "extends", Problem: "want the relative path of a YAML file"}
	}
	base, err := loadTree(filepath.Join(filepath.Dir(path), part.Extends), read, depth-1)
	if err != nil {
		return nil, err
	}
	delete(tree, keyLike(tree, "extends"))
	return merge(base, tree), nil
}

func fileOfTree(name string, tree map[string]any) (*File, error) {
	var f File
	if err := decode(&f, tree, ""); err != nil {
		var fe *FieldError
		if errors.As(err, &fe) {
			fe.File = name
		}
		return nil, err
	}
	return &f, nil
}

// Input is the entry's input as JSON.
func (e TimelineEntry) Input() (json.RawMessage, error) {
	if e.With == nil {
		return json.RawMessage(`{}`), nil
	}
	b, err := json.Marshal(e.With)
	if err != nil {
		return nil, fmt.Errorf("timeline %s: %w", e.Call, err)
	}
	return b, nil
}

// DecodeInput reads the input of an operation, JSON in the API's field names,
// into the SDK's struct for it. A field that is wrong is a *FieldError.
func DecodeInput(op string, input json.RawMessage, in any) error {
	tree, err := treeOfJSON(input)
	if err == nil {
		err = decode(in, tree, "")
	}
	var fe *FieldError
	switch {
	case errors.As(err, &fe):
		fe.Path = join(op, fe.Path)
		return fe
	case err != nil:
		return fmt.Errorf("call %s: %w", op, err)
	}
	return nil
}

// deleteKey marks an item of a list that a world takes away from the world it
// extends: {NatGatewayId: nat-1, $delete: true}.
const deleteKey = "$delete"

// identity names the field that tells the items of a list apart. A list that
// is not here (routes, faults, the timeline) is replaced as a whole.
func identity(list string) string {
	switch strings.ToLower(list) {
	case "vpcs":
		return "VpcId"
	case "subnets":
		return "SubnetId"
	case "routetables":
		return "RouteTableId"
	case "natgateways":
		return "NatGatewayId"
	case "internetgateways":
		return "InternetGatewayId"
	case "egressonlyinternetgateways":
		return "EgressOnlyInternetGatewayId"
	case "vpcendpoints":
		return "VpcEndpointId"
	case "securitygroups":
		return "GroupId"
	case "networkacls":
		return "NetworkAclId"
	case "networkinterfaces":
		return "NetworkInterfaceId"
	case "instances":
		return "InstanceId"
	case "reservations":
		return "ReservationId"
	case "instancetypes":
		return "InstanceType"
	case "images":
		return "ImageId"
	case "launchtemplates", "launchtemplateversions":
		return "LaunchTemplateId"
	case "addresses":
		return "AllocationId"
	case "prefixlists", "managedprefixlists":
		return "PrefixListId"
	case "dhcpoptions":
		return "DhcpOptionsId"
	case "volumes":
		return "VolumeId"
	case "vpcpeeringconnections":
		return "VpcPeeringConnectionId"
	case "transitgatewayattachments":
		return "TransitGatewayAttachmentId"
	case "autoscalinggroups":
		return "AutoScalingGroupName"
	case "activities":
		return "ActivityId"
	case "clusters":
		return "name"
	case "nodegroups":
		return "nodegroupName"
	case "addons":
		return "addonName"
	case "podidentityassociations":
		return "associationId"
	case "accessentries":
		return "principalArn"
	case "roles":
		return "RoleName"
	case "instanceprofiles":
		return "InstanceProfileName"
	case "policies":
		return "PolicyName"
	}
	return ""
}

// merge lays over on base: mappings by key, lists of resources by the
// resource's id, everything else replaced.
func merge(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		at := keyLike(out, k)
		old := out[at]
		delete(out, at)
		out[k] = mergeValue(k, old, v)
	}
	return out
}

func mergeValue(key string, old, new any) any {
	switch n := new.(type) {
	case map[string]any:
		if o, ok := old.(map[string]any); ok {
			return merge(o, n)
		}
	case []any:
		id := identity(key)
		o, _ := old.([]any)
		if id != "" && listOfMaps(o) && listOfMaps(n) {
			return mergeList(id, o, n)
		}
	}
	return new
}

func mergeList(id string, old, new []any) []any {
	out := append([]any{}, old...)
	for _, item := range new {
		m := item.(map[string]any)
		name, _ := m[keyLike(m, id)].(string)
		i := indexOf(out, id, name)
		_, gone := m[deleteKey]
		switch {
		case gone && i >= 0:
			out = append(out[:i], out[i+1:]...)
		case gone:
		case i >= 0 && name != "":
			out[i] = merge(out[i].(map[string]any), m)
		default:
			out = append(out, m)
		}
	}
	return out
}

func indexOf(list []any, id, name string) int {
	for i, item := range list {
		m := item.(map[string]any)
		if v, _ := m[keyLike(m, id)].(string); v == name {
			return i
		}
	}
	return -1
}

func listOfMaps(list []any) bool {
	for _, item := range list {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return true
}

// keyLike is the key of m that equals key without case, else key itself.
func keyLike(m map[string]any, key string) string {
	if _, ok := m[key]; ok {
		return key
	}
	for k := range m {
		if strings.EqualFold(k, key) {
			return k
		}
	}
	return key
}

// withoutDeleted is the tree without the items marked as taken away, for
// checking the fields of a file that extends another.
func withoutDeleted(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			out[k] = withoutDeleted(item)
		}
		return out
	case []any:
		out := make([]any, 0, len(t))
		for _, item := range t {
			if m, ok := item.(map[string]any); ok {
				if _, gone := m[deleteKey]; gone {
					continue
				}
			}
			out = append(out, withoutDeleted(item))
		}
		return out
	}
	return v
}

// readRegular reads a regular file by its path.
func readRegular(path string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return capture.ReadRegular(root, filepath.Base(path), most)
}

// maxNodes bounds how many nodes a document may grow to through YAML
// aliases, so that a small file cannot become a huge one.
const maxNodes = 2_000_000

// maxDepth bounds how deep a document may nest, through aliases of itself too.
const maxDepth = 100

// treeOfYAML reads one YAML document (JSON is YAML too) as a generic tree.
// Scalars keep their text: 012345678901 stays an account id and a time is not
// read by YAML's rules but by ours.
func treeOfYAML(data []byte) (map[string]any, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	if err := dec.Decode(&node); err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	if err := dec.Decode(new(yaml.Node)); err != io.EOF {
		return nil, fmt.Errorf("read YAML: want one document")
	}
	budget := maxNodes
	v, err := treeOfNode(&node, &budget, maxDepth)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read YAML: want a mapping, got %s", kindName(v))
	}
	return m, nil
}

func treeOfNode(n *yaml.Node, budget *int, depth int) (any, error) {
	if *budget--; *budget < 0 || depth == 0 {
		return nil, fmt.Errorf("read YAML: too large")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) != 1 {
			return nil, fmt.Errorf("read YAML: empty document")
		}
		return treeOfNode(n.Content[0], budget, depth-1)
	case yaml.AliasNode:
		return treeOfNode(n.Alias, budget, depth-1)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := treeOfNode(c, budget, depth-1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				return nil, fmt.Errorf("read YAML: line %d: want a plain key", key.Line)
			}
			if _, twice := out[key.Value]; twice {
				return nil, fmt.Errorf("read YAML: line %d: %q is given twice", key.Line, key.Value)
			}
			v, err := treeOfNode(n.Content[i+1], budget, depth-1)
			if err != nil {
				return nil, err
			}
			out[key.Value] = v
		}
		return out, nil
	case yaml.ScalarNode:
		return treeOfScalar(n)
	}
	return nil, fmt.Errorf("read YAML: line %d: unknown kind of node", n.Line)
}

func treeOfScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return nil, fmt.Errorf("read YAML: line %d: %w", n.Line, err)
		}
		return b, nil
	case "!!int", "!!float":
		// Hexadecimal, octal and infinite numbers have no JSON form; they
		// stay text, and the field that gets them says what it wanted.
		if isJSONNumber(n.Value) {
			return json.Number(n.Value), nil
		}
		return n.Value, nil
	}
	return n.Value, nil
}

func isJSONNumber(s string) bool {
	if s == "" || strings.TrimLeft(s, "-0123456789.eE+") != "" {
		return false
	}
	return json.Valid([]byte(s))
}

// treeOfJSON reads one JSON value as a generic tree.
func treeOfJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("read JSON: more than one value")
	}
	return v, nil
}
