// Package capture serves a folder of what the AWS CLI and kubectl printed as
// the account and the clusters that they were asked: the local stage takes it
// in place of a world, and the functions cannot tell the difference.
//
// A folder is read strictly by name and tolerantly by content. What a file
// does not hold was not looked at, and that is an answer of its own: see
// NotCaptured.
package capture

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/evidence"
	"rollcall/shared/node/activity"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/worldfile"
)

// Capture is a folder that was read.
type Capture struct {
	// Dir is its path.
	Dir string
	// Time is when it was taken.
	Time time.Time
	// Account and Region are whose and where, as far as the files tell.
	Account, Region string
	// Clusters are the names of the clusters in it, sorted.
	Clusters []string
	// Event is the EventBridge event to play, nil if there is none.
	Event json.RawMessage
	// Scope is what was asked for, where that is not all that there is: a function kept
	// what it read. Nil: all was asked for.
	Scope evidence.Scope
	// Kept tells of what it is evidence that a function kept; nil for another capture.
	Kept *evidence.About
	// Warnings say what was not understood and left out.
	Warnings []string

	files   map[string]any // by name: a pointer to an SDK output, or a tree
	refused map[string]refusal
	partial map[string]bool
	leftOut map[string]string // why a file is not there, by its name
}

// maxFile bounds one file: the largest real ones are lists of pods.
const maxFile = 64 << 20

// Open reads a folder. now bounds what may be the time of a capture that does
// not tell it. The error is an *Error that names the file if the folder is no
// capture or a file in it cannot be read.
func Open(dir string, now time.Time) (*Capture, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{dir, "there is no such folder"}
	case err != nil:
		return nil, &Error{dir, fmt.Sprintf("it cannot be read as a folder: %v", err)}
	}
	defer root.Close()
	return OpenIn(root, dir, now)
}

// OpenIn is Open of a folder that is open; dir is what messages call it. Nothing outside of
// the folder is read: a capture is somebody else's, and its files may be links.
func OpenIn(root *os.Root, dir string, now time.Time) (*Capture, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, &Error{dir, fmt.Sprintf("it cannot be read as a folder: %v", err)}
	}
	c := &Capture{Dir: dir, files: map[string]any{}, refused: map[string]refusal{}, partial: map[string]bool{}, leftOut: map[string]string{}}
	var times moments
	known := 0
	for _, e := range entries {
		ok, err := c.load(root, e, &times)
		if err != nil {
			return nil, err
		}
		if ok {
			known++
		}
	}
	if known == 0 {
		return nil, &Error{dir, "it is not a capture: it holds none of the files that a capture has, such as ec2-describe-instances.json"}
	}
	for name := range c.refused {
		if _, both := c.files[name]; both {
			c.warn("%s.json: errors.json says that this call was refused: what the file holds is left out", name)
			delete(c.files, name)
		}
	}
	if c.Time.IsZero() {
		if c.Time = times.newest(now); c.Time.IsZero() {
			c.warn("no file holds a time, and there is no time.txt: the capture is taken to be of now")
			c.Time = now
		}
	}
	c.identify()
	return c, nil
}

// load reads one file, and tells if it is one that a capture has.
func (c *Capture) load(root *os.Root, e fs.DirEntry, times *moments) (bool, error) {
	path := filepath.Join(c.Dir, e.Name())
	name := tidyName(e.Name())
	operation, _ := splitName(name)
	typ, isCall := operations()[operation]
	isJSON := strings.HasSuffix(e.Name(), ".json")
	special := e.Name() == evidence.AboutFile || e.Name() == "event.json" || e.Name() == "errors.json" || e.Name() == leftOutFile || e.Name() == evidence.AskedFile || e.Name() == "time.txt"
	if !special && !(isJSON && isCall) {
		if !strings.HasPrefix(e.Name(), ".") {
			c.warn("%s: not a file that a capture has; it is left out", e.Name())
		}
		return false, nil
	}
	data, err := worldfile.ReadRegular(root, e.Name(), maxFile)
	if err != nil {
		return false, &Error{path, err.Error()}
	}
	if e.Name() == "time.txt" {
		return false, c.takeTime(path, data)
	}
	switch e.Name() {
	case evidence.AskedFile:
		return false, about(path, data, &c.Scope)
	case evidence.AboutFile:
		return false, about(path, data, &c.Kept)
	}
	tree, err := treeOf(data)
	if err != nil {
		return false, &Error{path, err.Error()}
	}
	if tree == nil {
		c.warn("%s: the file is empty: the call that should have filled it is taken as not made", e.Name())
		return true, nil
	}
	if e.Name() == leftOutFile {
		return false, c.takeLeftOut(path, tree)
	}
	if _, ok := tree.(map[string]any); !ok {
		return false, &Error{path, "want a JSON object, got " + kindOf(tree)}
	}
	switch e.Name() {
	case "errors.json":
		return true, c.takeRefusals(path, tree)
	case "event.json":
		times.add(tree)
		return true, c.takeEvent(path, plainText(data), tree)
	}
	times.add(tree)
	return true, c.take(path, name, typ, tree)
}

// about reads a file that tells what the others are of.
func about(path string, data []byte, to any) error {
	if err := json.Unmarshal(plainText(data), to); err != nil {
		return &Error{path, err.Error()}
	}
	return nil
}

// take keeps what a call answered.
func (c *Capture) take(path, name string, typ reflect.Type, tree any) error {
	if typ == nil {
		c.files[name] = tree
		return nil
	}
	out := reflect.New(typ)
	if err := decode(out.Elem(), tree, ""); err != nil {
		return &Error{path, err.Error()}
	}
	if more(out.Elem()) {
		c.warn("%s.json: it holds only the first page of the answer (there is a token for the next): nothing is concluded from it", name)
		c.partial[name] = true
		return nil
	}
	c.files[name] = out.Interface()
	return nil
}

// more tells that an answer goes on: half a list must not pass as the list.
func more(out reflect.Value) bool {
	for _, field := range []string{"NextToken", "Marker"} {
		f := out.FieldByName(field)
		if f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().String() != "" {
			return true
		}
	}
	return false
}

func (c *Capture) takeTime(path string, data []byte) error {
	text := strings.TrimSpace(string(plainText(data)))
	if line, _, ok := strings.Cut(text, "\n"); ok {
		text = strings.TrimSpace(line)
	}
	t, err := timeOf(text)
	if err != nil {
		return &Error{path, err.Error() + ", such as 2026-11-20T15:10:00Z"}
	}
	c.Time = t
	return nil
}

func (c *Capture) takeEvent(path string, data []byte, tree any) error {
	for _, key := range []string{"source", "detail-type"} {
		if text, _ := tree.(map[string]any)[key].(string); text == "" {
			return &Error{path, fmt.Sprintf("it is not an EventBridge event: it has no %q", key)}
		}
	}
	c.Event = data
	return nil
}

func (c *Capture) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// names are the files of an operation.
func (c *Capture) names(operation string) []string {
	var list []string
	for name := range c.files {
		if name == operation || strings.HasPrefix(name, operation+".") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// API answers AWS's calls from a capture. Each of its methods
// func(*XInput) (*XOutput, error) is the operation X, as package wire serves
// it. All pages are in one: a client that asks for pages gets the first, and
// no token.
type API struct{ c *Capture }

// API is the capture as an account.
func (c *Capture) API() API { return API{c} }

// DescribeAutoScalingGroups answers with the groups that the capture holds.
// Names that it does not hold are left out, as Auto Scaling does.
func (a API) DescribeAutoScalingGroups(in *autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	all, err := read[autoscaling.DescribeAutoScalingGroupsOutput](a.c, "autoscaling-describe-auto-scaling-groups")
	if err != nil {
		return nil, err
	}
	list := all.AutoScalingGroups
	if len(in.AutoScalingGroupNames) > 0 {
		list = items(list, func(g astypes.AutoScalingGroup) bool {
			return slices.Contains(in.AutoScalingGroupNames, aws.ToString(g.AutoScalingGroupName))
		})
	}
	for _, f := range in.Filters {
		name := aws.ToString(f.Name)
		if name != "tag-key" && name != "tag-value" && !strings.HasPrefix(name, "tag:") {
			return nil, wire.Errorf("ValidationError", "Filter type %s is not correct. Allowed Filter types are: tag-key tag-value tag:<key>", name)
		}
		list = items(list, func(g astypes.AutoScalingGroup) bool {
			return slices.ContainsFunc(g.Tags, func(t astypes.TagDescription) bool {
				key, value := aws.ToString(t.Key), aws.ToString(t.Value)
				switch name {
				case "tag-key":
					return slices.Contains(f.Values, key)
				case "tag-value":
					return slices.Contains(f.Values, value)
				}
				return "tag:"+key == name && slices.Contains(f.Values, value)
			})
		})
	}
	return &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: list}, nil
}

// mostActivities is the largest page of DescribeScalingActivities, and what
// it gives without a number.
const mostActivities = 100

// DescribeScalingActivities answers with a group's activities, newest first.
func (a API) DescribeScalingActivities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	all, err := read[autoscaling.DescribeScalingActivitiesOutput](a.c, "autoscaling-describe-scaling-activities")
	if err != nil {
		return nil, err
	}
	group := aws.ToString(in.AutoScalingGroupName)
	list := items(all.Activities, func(x astypes.Activity) bool {
		return (group == "" || aws.ToString(x.AutoScalingGroupName) == group) &&
			(len(in.ActivityIds) == 0 || slices.Contains(in.ActivityIds, aws.ToString(x.ActivityId)))
	})
	slices.SortStableFunc(list, func(x, y astypes.Activity) int { return aws.ToTime(y.StartTime).Compare(aws.ToTime(x.StartTime)) })
	most := mostActivities
	if n := int(aws.ToInt32(in.MaxRecords)); n > 0 {
		most = min(n, most)
	}
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: list[:min(len(list), most)]}, nil
}

// DescribeWarmPool answers with the instances of a group that are in its warm pool: a
// capture has no file of warm pools, and DescribeAutoScalingGroups lists no instance of
// one (kops, upup/pkg/fi/cloudup/awsup/aws_cloud.go, findAutoscalingGroups, reads
// both). They have the group's tag, are none of its members, and are in the pool's
// state, or the newest activity about them brought them into the pool.
func (a API) DescribeWarmPool(in *autoscaling.DescribeWarmPoolInput) (*autoscaling.DescribeWarmPoolOutput, error) {
	all, err := read[autoscaling.DescribeAutoScalingGroupsOutput](a.c, "autoscaling-describe-auto-scaling-groups")
	if err != nil {
		return nil, err
	}
	name := aws.ToString(in.AutoScalingGroupName)
	i := slices.IndexFunc(all.AutoScalingGroups, func(g astypes.AutoScalingGroup) bool { return aws.ToString(g.AutoScalingGroupName) == name })
	if i < 0 {
		return nil, wire.Errorf("ValidationError", "AutoScalingGroup name not found - no such group: %s", name)
	}
	g := all.AutoScalingGroups[i]
	out := &autoscaling.DescribeWarmPoolOutput{WarmPoolConfiguration: g.WarmPoolConfiguration, Instances: items(g.Instances, func(i astypes.Instance) bool {
		return strings.HasPrefix(text(reflect.ValueOf(i), "LifecycleState"), "Warmed:")
	})}
	described, err := read[ec2.DescribeInstancesOutput](a.c, "ec2-describe-instances")
	if err != nil || g.WarmPoolConfiguration == nil {
		return out, nil
	}
	brought := a.broughtInto(name)
	for _, r := range described.Reservations {
		for _, in := range r.Instances {
			id := aws.ToString(in.InstanceId)
			member := slices.ContainsFunc(g.Instances, func(m astypes.Instance) bool { return aws.ToString(m.InstanceId) == id })
			ofGroup := slices.ContainsFunc(in.Tags, func(t ec2types.Tag) bool {
				return aws.ToString(t.Key) == "aws:autoscaling:groupName" && aws.ToString(t.Value) == name
			})
			if state := warmState(in, g.WarmPoolConfiguration, brought[id]); state != "" && ofGroup && !member {
				out.Instances = append(out.Instances, astypes.Instance{InstanceId: in.InstanceId, LifecycleState: state})
			}
		}
	}
	return out, nil
}

// broughtInto are the instances that an activity brought into the warm pool of a group
// and none later out of it.
func (a API) broughtInto(group string) map[string]bool {
	out, err := a.DescribeScalingActivities(&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: &group})
	into := map[string]bool{}
	if err != nil {
		return into
	}
	for _, x := range slices.Backward(out.Activities) {
		if warm, is := activity.WarmPool(aws.ToString(x.Description)); is {
			_, id, _ := strings.Cut(aws.ToString(x.Description), " pool: ")
			into[strings.TrimSpace(id)] = warm
		}
	}
	return into
}

// warmState is the state in which an instance waits in a warm pool; empty for one that
// does not.
func warmState(in ec2types.Instance, pool *astypes.WarmPoolConfiguration, brought bool) astypes.LifecycleState {
	state := ec2types.InstanceStateName("")
	if in.State != nil {
		state = in.State.Name
	}
	switch state {
	case ec2types.InstanceStateNameStopping, ec2types.InstanceStateNameStopped:
		if pool.PoolState == astypes.WarmPoolStateHibernated {
			return astypes.LifecycleStateWarmedHibernated
		}
		return astypes.LifecycleStateWarmedStopped
	case ec2types.InstanceStateNamePending, ec2types.InstanceStateNameRunning:
		switch {
		case pool.PoolState == astypes.WarmPoolStateRunning:
			return astypes.LifecycleStateWarmedRunning
		case brought:
			return astypes.LifecycleStateWarmedPending
		}
	}
	return ""
}

// decode fills an SDK struct from the tree of what the CLI printed. Field
// names are compared without case: the CLI prints the API's names, and Go's
// differ from them in case only. A field that this SDK does not know is left
// out, as an SDK leaves out what a newer service sends. A value of another kind
// than the field's is an error: the file is not what its name says.
func decode(dst reflect.Value, src any, path string) error {
	if src == nil {
		return nil
	}
	if dst.Type() == reflect.TypeFor[time.Time]() {
		t, err := timeOf(src)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		dst.Set(reflect.ValueOf(t))
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		if src == "" && dst.Type().Elem() == reflect.TypeFor[time.Time]() {
			return nil // tools that rewrite JSON leave an empty time where there is none
		}
		v := reflect.New(dst.Type().Elem())
		if err := decode(v.Elem(), src, path); err != nil {
			return err
		}
		dst.Set(v)
		return nil
	case reflect.Interface:
		return nil // a union: none of them is read
	case reflect.Struct:
		return decodeStruct(dst, src, path)
	case reflect.Slice:
		return decodeSlice(dst, src, path)
	case reflect.Map:
		return decodeMap(dst, src, path)
	}
	return decodeScalar(dst, src, path)
}

func decodeStruct(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return wrong(path, "an object", src)
	}
	t := dst.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		value, ok := member(m, f.Name)
		if !ok {
			continue
		}
		if err := decode(dst.Field(i), value, join(path, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// member finds a key without case; the exact one wins.
func member(m map[string]any, name string) (any, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for key, v := range m {
		if strings.EqualFold(key, name) {
			return v, true
		}
	}
	return nil, false
}

func decodeSlice(dst reflect.Value, src any, path string) error {
	if dst.Type().Elem().Kind() == reflect.Uint8 {
		s, ok := src.(string)
		if !ok {
			return wrong(path, "text", src)
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			b = []byte(s)
		}
		dst.SetBytes(b)
		return nil
	}
	list, ok := src.([]any)
	if !ok {
		return wrong(path, "a list", src)
	}
	out := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, item := range list {
		if err := decode(out.Index(i), item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	dst.Set(out)
	return nil
}

func decodeMap(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return wrong(path, "an object", src)
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(m))
	for key, item := range m {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := decode(v, item, join(path, key)); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), v)
	}
	dst.Set(out)
	return nil
}

// decodeScalar takes numbers and switches written as text too, as tools that
// rewrite JSON leave them.
func decodeScalar(dst reflect.Value, src any, path string) error {
	text := ""
	switch v := src.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	case map[string]any:
		if dst.Kind() != reflect.String || !isDocument(path) {
			return wrong(path, "a "+dst.Kind().String(), src)
		}
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text = string(b)
	default:
		return wrong(path, "a "+dst.Kind().String(), src)
	}
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(text)
		return nil
	case reflect.Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			dst.SetBool(b)
			return nil
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if n, err := strconv.ParseInt(text, 10, dst.Type().Bits()); err == nil {
			dst.SetInt(n)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			dst.SetFloat(n)
			return nil
		}
	}
	return wrong(path, "a "+dst.Kind().String(), src)
}

// isDocument tells a policy's document, which the CLI prints as an object
// where the API has text.
func isDocument(path string) bool {
	return strings.HasSuffix(path, "Document") || strings.HasSuffix(path, "Policy")
}

// urlEncoded is an IAM policy document as the API gives it. The CLI has
// decoded it.
func urlEncoded(document *string) *string {
	if document == nil || !strings.HasPrefix(strings.TrimSpace(*document), "{") {
		return document
	}
	encoded := url.PathEscape(*document)
	return &encoded
}

func wrong(path, want string, got any) error {
	if path == "" {
		return fmt.Errorf("want %s, got %s", want, kindOf(got))
	}
	return fmt.Errorf("%s: want %s, got %s", path, want, kindOf(got))
}

// kindOf is the kind of a value, and never the value: the file may be any, and a message
// may go to anybody.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// ListClusters answers with the clusters of the capture: those of the list,
// and those that are described.
func (a API) ListClusters(*eks.ListClustersInput) (*eks.ListClustersOutput, error) {
	if _, err := read[eks.ListClustersOutput](a.c, "eks-list-clusters"); err != nil && len(a.c.Clusters) == 0 {
		return nil, err
	}
	return &eks.ListClustersOutput{Clusters: a.c.Clusters}, nil
}

// DescribeCluster answers with a cluster as EKS described it.
func (a API) DescribeCluster(in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	return read[eks.DescribeClusterOutput](a.c, "eks-describe-cluster", aws.ToString(in.Name))
}

// ListNodegroups answers with the names of a cluster's node groups.
func (a API) ListNodegroups(in *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error) {
	return read[eks.ListNodegroupsOutput](a.c, "eks-list-nodegroups", aws.ToString(in.ClusterName))
}

// DescribeNodegroup answers with a node group.
func (a API) DescribeNodegroup(in *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error) {
	return read[eks.DescribeNodegroupOutput](a.c, "eks-describe-nodegroup", aws.ToString(in.ClusterName), aws.ToString(in.NodegroupName))
}

// ListAddons answers with the names of a cluster's add-ons.
func (a API) ListAddons(in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	return read[eks.ListAddonsOutput](a.c, "eks-list-addons", aws.ToString(in.ClusterName))
}

// DescribeAddon answers with an add-on.
func (a API) DescribeAddon(in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	return read[eks.DescribeAddonOutput](a.c, "eks-describe-addon", aws.ToString(in.ClusterName), aws.ToString(in.AddonName))
}

// ListAccessEntries answers with the principals of a cluster's access entries.
func (a API) ListAccessEntries(in *eks.ListAccessEntriesInput) (*eks.ListAccessEntriesOutput, error) {
	return read[eks.ListAccessEntriesOutput](a.c, "eks-list-access-entries", aws.ToString(in.ClusterName))
}

// DescribeAccessEntry answers with an access entry. Its file has the role's
// name, so two entries of the same name and different paths, or of a role and
// a user, share one: an entry of another principal is not the answer.
func (a API) DescribeAccessEntry(in *eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error) {
	arn := aws.ToString(in.PrincipalArn)
	out, err := read[eks.DescribeAccessEntryOutput](a.c, "eks-describe-access-entry", aws.ToString(in.ClusterName), lastPart(arn))
	if err != nil {
		return nil, err
	}
	if e := out.AccessEntry; e != nil && e.PrincipalArn != nil && *e.PrincipalArn != arn {
		return nil, wire.Errorf(NotCaptured, "the capture holds the access entry of %s, not that of %s", *e.PrincipalArn, arn)
	}
	return out, nil
}

// ListAssociatedAccessPolicies answers with the access policies of an entry, whose file has
// the role's name too.
func (a API) ListAssociatedAccessPolicies(in *eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error) {
	arn := aws.ToString(in.PrincipalArn)
	out, err := read[eks.ListAssociatedAccessPoliciesOutput](a.c, "eks-list-associated-access-policies", aws.ToString(in.ClusterName), lastPart(arn))
	if err != nil {
		return nil, err
	}
	if out.PrincipalArn != nil && *out.PrincipalArn != arn {
		return nil, wire.Errorf(NotCaptured, "the capture holds the access policies of %s, not those of %s", *out.PrincipalArn, arn)
	}
	return out, nil
}

// ListPodIdentityAssociations answers with a cluster's associations.
func (a API) ListPodIdentityAssociations(in *eks.ListPodIdentityAssociationsInput) (*eks.ListPodIdentityAssociationsOutput, error) {
	all, err := read[eks.ListPodIdentityAssociationsOutput](a.c, "eks-list-pod-identity-associations", aws.ToString(in.ClusterName))
	if err != nil {
		return nil, err
	}
	same := func(want, have *string) bool { return want == nil || aws.ToString(want) == aws.ToString(have) }
	return &eks.ListPodIdentityAssociationsOutput{
		Associations: items(all.Associations, func(s ekstypes.PodIdentityAssociationSummary) bool {
			return same(in.Namespace, s.Namespace) && same(in.ServiceAccount, s.ServiceAccount)
		}),
	}, nil
}

// DescribePodIdentityAssociation answers with an association.
func (a API) DescribePodIdentityAssociation(in *eks.DescribePodIdentityAssociationInput) (*eks.DescribePodIdentityAssociationOutput, error) {
	return read[eks.DescribePodIdentityAssociationOutput](a.c, "eks-describe-pod-identity-association", aws.ToString(in.ClusterName), aws.ToString(in.AssociationId))
}

// ListUpdates answers with the ids of a node group's updates, or the cluster's.
func (a API) ListUpdates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	keys := updateKeys(in.Name, in.NodegroupName, in.AddonName)
	out, err := read[eks.ListUpdatesOutput](a.c, "eks-list-updates", keys...)
	described := a.c.describedUpdates(keys)
	var e *wire.Error
	switch {
	case len(described) == 0:
		return out, err
	case err == nil:
		all := *out
		all.UpdateIds = slices.Compact(slices.Sorted(slices.Values(slices.Concat(out.UpdateIds, described))))
		if len(all.UpdateIds) == len(out.UpdateIds) {
			return out, nil // in the order of EKS
		}
		return &all, nil
	case errors.As(err, &e) && e.Code == NotCaptured:
		return &eks.ListUpdatesOutput{UpdateIds: described}, nil
	}
	return out, err
}

// describedUpdates are the ids of the updates that the capture describes,
// sorted: who looked at one knew its id, and need not have kept the list.
func (c *Capture) describedUpdates(keys []string) []string {
	var list []string
	for name, file := range c.files {
		if _, ok := file.(*eks.DescribeUpdateOutput); !ok {
			continue
		}
		for _, prefix := range []string{fileName("eks-describe-update", keys...), plainName("eks-describe-update", slices.Clone(keys)...)} {
			id, ok := strings.CutPrefix(name, prefix+".")
			if ok && id != "" && !strings.Contains(id, ".") && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return list
}

// DescribeUpdate answers with an update.
func (a API) DescribeUpdate(in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	return read[eks.DescribeUpdateOutput](a.c, "eks-describe-update", append(updateKeys(in.Name, in.NodegroupName, in.AddonName), aws.ToString(in.UpdateId))...)
}

func updateKeys(cluster, nodegroup, addon *string) []string {
	keys := []string{aws.ToString(cluster)}
	for _, k := range []*string{nodegroup, addon} {
		if k != nil {
			keys = append(keys, *k)
		}
	}
	return keys
}

// lastPart is the name at the end of an ARN or a path.
func lastPart(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// GetInstanceProfile answers with a profile and its roles.
func (a API) GetInstanceProfile(in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	out, err := read[iam.GetInstanceProfileOutput](a.c, "iam-get-instance-profile", aws.ToString(in.InstanceProfileName))
	if err != nil || out.InstanceProfile == nil {
		return out, err
	}
	profile := *out.InstanceProfile
	profile.Roles = nil
	for _, r := range out.InstanceProfile.Roles {
		r.AssumeRolePolicyDocument = urlEncoded(r.AssumeRolePolicyDocument)
		profile.Roles = append(profile.Roles, r)
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: &profile}, nil
}

// GetRole answers with a role.
func (a API) GetRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	out, err := read[iam.GetRoleOutput](a.c, "iam-get-role", aws.ToString(in.RoleName))
	if err != nil || out.Role == nil {
		return out, err
	}
	role := *out.Role
	role.AssumeRolePolicyDocument = urlEncoded(role.AssumeRolePolicyDocument)
	return &iam.GetRoleOutput{Role: &role}, nil
}

// ListAttachedRolePolicies answers with the managed policies of a role.
func (a API) ListAttachedRolePolicies(in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
	return read[iam.ListAttachedRolePoliciesOutput](a.c, "iam-list-attached-role-policies", aws.ToString(in.RoleName))
}

// ListRolePolicies answers with the names of a role's inline policies.
func (a API) ListRolePolicies(in *iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
	return read[iam.ListRolePoliciesOutput](a.c, "iam-list-role-policies", aws.ToString(in.RoleName))
}

// GetRolePolicy answers with an inline policy.
func (a API) GetRolePolicy(in *iam.GetRolePolicyInput) (*iam.GetRolePolicyOutput, error) {
	all, err := read[iam.GetRolePolicyOutput](a.c, "iam-get-role-policy", aws.ToString(in.RoleName), aws.ToString(in.PolicyName))
	if err != nil {
		return nil, err
	}
	out := *all
	out.RoleName, out.PolicyName = in.RoleName, in.PolicyName
	out.PolicyDocument = urlEncoded(out.PolicyDocument)
	return &out, nil
}

// GetPolicy is made from the file of the policy's default version: a capture
// has no file of its own for it.
func (a API) GetPolicy(in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	name := lastPart(aws.ToString(in.PolicyArn))
	out, err := read[iam.GetPolicyVersionOutput](a.c, "iam-get-policy-version", name)
	if err != nil {
		return nil, err
	}
	p := &iamtypes.Policy{Arn: in.PolicyArn, PolicyName: &name, IsAttachable: true, DefaultVersionId: aws.String("v1")}
	if v := out.PolicyVersion; v != nil && v.VersionId != nil {
		p.DefaultVersionId = v.VersionId
	}
	return &iam.GetPolicyOutput{Policy: p}, nil
}

// GetPolicyVersion answers with the default version of a policy.
func (a API) GetPolicyVersion(in *iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
	out, err := read[iam.GetPolicyVersionOutput](a.c, "iam-get-policy-version", lastPart(aws.ToString(in.PolicyArn)))
	if err != nil || out.PolicyVersion == nil {
		return out, err
	}
	v := *out.PolicyVersion
	v.Document = urlEncoded(v.Document)
	return &iam.GetPolicyVersionOutput{PolicyVersion: &v}, nil
}
