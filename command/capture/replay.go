package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"rollcall/shared/access/policy"
	"rollcall/shared/awscall"
	"rollcall/shared/capture"
	"rollcall/shared/evidence"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
)

// AWS is a configuration whose clients are answered from the capture. All pages are in one
// answer, and nothing is sent.
func (c *Capture) AWS() aws.Config {
	return aws.Config{
		Region:      c.Region,
		Credentials: credentials.NewStaticCredentialsProvider("CAPTURE", "capture", ""),
		HTTPClient:  &http.Client{Transport: offline{}},
		APIOptions:  []func(*middleware.Stack) error{c.replay},
	}
}

// offline refuses requests: what the replayer does not answer must not reach a network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("a capture is read without a network")
}

// replay answers before a request is written, and after all that the callers add (package
// askonce): their middleware is of the step before.
func (c *Capture) replay(stack *middleware.Stack) error {
	return stack.Serialize.Add(middleware.SerializeMiddlewareFunc("RollcallReplay",
		func(ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler) (middleware.SerializeOutput, middleware.Metadata, error) {
			call := evidence.Call(ctx)
			if call == "sts:GetCallerIdentity" { // presigned: the token of a cluster
				return next.HandleSerialize(ctx, in)
			}
			out, err := c.Answer(call, in.Parameters)
			if strings.HasPrefix(call, "eks:") {
				err = asEKS(err)
			}
			return middleware.SerializeOutput{Result: out}, middleware.Metadata{}, err
		}), middleware.Before)
}

// asEKS gives refusals of EKS the types by which its clients know them.
func asEKS(err error) error {
	var refused *smithy.GenericAPIError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case "ResourceNotFoundException":
		return &ekstypes.ResourceNotFoundException{Message: &refused.Message}
	case "InvalidRequestException":
		return &ekstypes.InvalidRequestException{Message: &refused.Message}
	}
	return err
}

// Answer is what the capture holds of a call, "ec2:DescribeSubnets", narrowed to what its
// parameters ask for. A refusal is a *smithy.GenericAPIError.
func (c *Capture) Answer(call string, params any) (any, error) {
	switch in := params.(type) {
	case *eks.ListClustersInput:
		// Those of the list, and those that are described.
		if len(c.Clusters) > 0 {
			return &eks.ListClustersOutput{Clusters: c.Clusters}, nil
		}
		return c.read("eks-list-clusters")
	case *iam.GetPolicyInput:
		return c.policy(aws.ToString(in.PolicyArn))
	}
	file, q := evidence.File(call, params)
	if file == "" {
		_, operation, _ := strings.Cut(call, ":")
		return nil, apiError(NotCaptured, "a capture has no file of %s", operation)
	}
	if err := c.asked(file, q); err != nil {
		return nil, err
	}
	out, err := c.special(params)
	if out == nil && err == nil {
		out, err = c.read(file)
	}
	if err != nil {
		return nil, err
	}
	if tree, own := out.(map[string]any); own {
		return recorded(tree, call, q, params)
	}
	// The value is shared, and the client writes into its copy.
	copied := reflect.New(reflect.TypeOf(out).Elem())
	copied.Elem().Set(reflect.ValueOf(out).Elem())
	return copied.Interface(), c.narrow(copied.Elem(), call, file, q)
}

// asked refuses what was not asked for when evidence was kept: that it is not in there does
// not say that there was none.
func (c *Capture) asked(file string, q evidence.Question) error {
	refused, covered := c.Scope.Find(file, q)
	switch {
	case !covered:
		return apiError(NotCaptured, "%s.json: this was not asked for when it was kept: %v", file, q)
	case refused != nil:
		return apiError(refused.Code, "%s", refused.Message)
	}
	return nil
}

func apiError(code, format string, args ...any) *smithy.GenericAPIError {
	return &smithy.GenericAPIError{Code: code, Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

// read is what a file holds: a pointer to an SDK output, which is shared, or a tree.
func (c *Capture) read(file string) (any, error) {
	operation, keys := splitName(file)
	name := c.find(operation, keys)
	if out, ok := c.files[name]; ok {
		return out, nil
	}
	return nil, c.absent(name)
}

// typed is read of a file whose type is known.
func typed[O any](c *Capture, operation string, keys ...string) (*O, error) {
	out, err := c.read(capture.FileName(operation, keys...))
	if err != nil {
		return nil, err
	}
	o, ok := out.(*O)
	if !ok {
		return nil, apiError(NotCaptured, "%s.json holds something else", operation)
	}
	return o, nil
}

// missingCodes are the codes with which EC2 refuses an id that it does not have (EC2 API
// reference, "Error codes"), by the parameter of the ids. Other lists leave it out.
func missingCode(call, ids string) string {
	switch call {
	case "ec2:DescribeInstanceStatus", "ec2:DescribeInstanceTypes":
		return ""
	case "ec2:DescribePlacementGroups":
		return "InvalidPlacementGroup.Unknown"
	}
	return map[string]string{
		"InstanceIds": "InvalidInstanceID.NotFound", "SubnetIds": "InvalidSubnetID.NotFound", "VpcIds": "InvalidVpcID.NotFound",
		"CapacityReservationIds": "InvalidCapacityReservationId.NotFound", "RouteTableIds": "InvalidRouteTableID.NotFound",
		"NatGatewayIds": "NatGatewayNotFound", "InternetGatewayIds": "InvalidInternetGatewayID.NotFound",
		"EgressOnlyInternetGatewayIds": "InvalidGatewayID.NotFound", "VpcEndpointIds": "InvalidVpcEndpointId.NotFound",
		"GroupIds": "InvalidGroup.NotFound", "NetworkAclIds": "InvalidNetworkAclID.NotFound", "DhcpOptionsIds": "InvalidDhcpOptionID.NotFound",
		"NetworkInterfaceIds": "InvalidNetworkInterfaceID.NotFound", "VolumeIds": "InvalidVolume.NotFound", "ZoneNames": "InvalidParameterValue",
		"ImageIds": "InvalidAMIID.NotFound", "PrefixListIds": "InvalidPrefixListID.NotFound",
		"VpcPeeringConnectionIds": "InvalidVpcPeeringConnectionID.NotFound", "TransitGatewayAttachmentIds": "InvalidTransitGatewayAttachmentID.NotFound",
		"TransitGatewayRouteTableIds": "InvalidRouteTableID.NotFound",
	}[ids]
}

// filterPath is the path of fields that a filter looks at, where its name is not that path.
func filterPath(call, name string) string {
	paths := map[string]map[string]string{
		"ec2:DescribeInstances": {
			"instance-state-name": "state.name", "availability-zone": "placement.availability-zone", "instance.group-id": "security-groups.group-id",
			"network-interface.network-interface-id": "network-interfaces.network-interface-id",
		},
		"ec2:DescribeInstanceStatus":        {"instance-state-name": "instance-state.name"},
		"ec2:DescribeVpcEndpoints":          {"vpc-endpoint-state": "state"},
		"ec2:DescribeNetworkAcls":           {"default": "is-default"},
		"ec2:DescribeNetworkInterfaces":     {"group-id": "groups.group-id", "addresses.private-ip-address": "private-ip-addresses.private-ip-address"},
		"ec2:DescribeVolumes":               {"status": "state"},
		"ec2:DescribeVpcPeeringConnections": {"status-code": "status.code"},
		"ec2:SearchTransitGatewayRoutes": {
			"attachment.transit-gateway-attachment-id": "transit-gateway-attachments.transit-gateway-attachment-id",
			"attachment.resource-id":                   "transit-gateway-attachments.resource-id",
			"attachment.resource-type":                 "transit-gateway-attachments.resource-type",
		},
	}
	if path, ok := paths[call][name]; ok {
		return path
	}
	return name
}

// narrow leaves of an answer's list what the question is for, as the service would.
func (c *Capture) narrow(out reflect.Value, call, file string, q evidence.Question) error {
	list := listOf(out)
	if !list.IsValid() || len(q) == 0 {
		return nil
	}
	if reservations, ok := list.Interface().([]ec2types.Reservation); ok {
		return c.narrowReservations(reservations, list, call, q)
	}
	if call == "ec2:DescribeNetworkInterfaces" {
		if err := c.uncounted(q); err != nil {
			return err
		}
	}
	kept, err := chosen(list, call, file, q)
	if err == nil {
		list.Set(kept)
	}
	return err
}

// narrowReservations leaves in each reservation the instances that the question is for.
func (c *Capture) narrowReservations(reservations []ec2types.Reservation, list reflect.Value, call string, q evidence.Question) error {
	var all []ec2types.Instance
	for _, r := range reservations {
		all = append(all, r.Instances...)
	}
	if err := c.unseen(q, all); err != nil {
		return err
	}
	kept, err := chosen(reflect.ValueOf(all), call, "", q)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, in := range kept.Interface().([]ec2types.Instance) {
		wanted[aws.ToString(in.InstanceId)] = true
	}
	var left []ec2types.Reservation
	for _, r := range reservations {
		r.Instances = items(r.Instances, func(in ec2types.Instance) bool { return wanted[aws.ToString(in.InstanceId)] })
		if len(r.Instances) > 0 {
			left = append(left, r)
		}
	}
	list.Set(reflect.ValueOf(left))
	return nil
}

// listOf is the first list of structs in an answer.
func listOf(out reflect.Value) reflect.Value {
	for i := range out.NumField() {
		f := out.Field(i)
		if out.Type().Field(i).IsExported() && f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct {
			return f
		}
	}
	return reflect.Value{}
}

// chosen are the items of a list that fit a question: its filters, ids and other parameters
// that are fields of an item.
func chosen(list reflect.Value, call, file string, q evidence.Question) (reflect.Value, error) {
	item := list.Type().Elem()
	kept := list
	for name, want := range q {
		if filter, is := strings.CutPrefix(name, "filter "); is {
			path := filterPath(call, filter)
			if strings.HasPrefix(call, "autoscaling:") {
				if filter != "tag-key" && filter != "tag-value" && !strings.HasPrefix(filter, "tag:") {
					return kept, apiError("ValidationError", "Filter type %s is not correct. Allowed Filter types are: tag-key tag-value tag:<key>", filter)
				}
			} else if !filterable(item, path) {
				return kept, apiError("InvalidParameterValue", "The filter '%s' is invalid", filter)
			}
			kept = where(kept, func(v reflect.Value) bool { return admits(values(v, path), want) })
			continue
		}
		field := name
		if _, ok := item.FieldByName(field); !ok {
			field = strings.TrimSuffix(name, "s") // InstanceIds: InstanceId
		}
		if _, ok := item.FieldByName(field); !ok {
			continue
		}
		is := func(v reflect.Value, value string) bool { return text(v, field) == value }
		for _, value := range want {
			if len(items(each(list), func(v reflect.Value) bool { return is(v, value) })) > 0 {
				continue
			}
			if call == "ec2:DescribeInstanceTypes" {
				// EC2 has every type that an instance can be of.
				return kept, apiError(NotCaptured, "%s.json "+NotAmong+" %s", file, value)
			}
			if code := missingCode(call, name); code != "" {
				return kept, apiError(code, "The ID '%s' does not exist", value)
			}
		}
		kept = where(kept, func(v reflect.Value) bool {
			return slices.ContainsFunc(want, func(value string) bool { return is(v, value) })
		})
	}
	return kept, nil
}

// each are the items of a list.
func each(list reflect.Value) []reflect.Value {
	all := make([]reflect.Value, list.Len())
	for i := range all {
		all[i] = list.Index(i)
	}
	return all
}

// where leaves out what does not fit; the list itself is not changed.
func where(list reflect.Value, fits func(reflect.Value) bool) reflect.Value {
	kept := reflect.MakeSlice(list.Type(), 0, list.Len())
	for _, v := range each(list) {
		if fits(v) {
			kept = reflect.Append(kept, v)
		}
	}
	return kept
}

// admits reports whether one of the values is one of those wanted, which may hold * and ?.
func admits(have, want []string) bool {
	return slices.ContainsFunc(want, func(w string) bool {
		return slices.ContainsFunc(have, func(h string) bool { return policy.Matches(w, h) })
	})
}

// policy is made from the file of the policy's default version: a capture has no file of its
// own for it.
func (c *Capture) policy(arn string) (*iam.GetPolicyOutput, error) {
	name := lastPart(arn)
	out, err := typed[iam.GetPolicyVersionOutput](c, "iam-get-policy-version", name)
	if err != nil {
		return nil, err
	}
	p := &iamtypes.Policy{Arn: &arn, PolicyName: &name, IsAttachable: true, DefaultVersionId: aws.String("v1")}
	if v := out.PolicyVersion; v != nil && v.VersionId != nil {
		p.DefaultVersionId = v.VersionId
	}
	return &iam.GetPolicyOutput{Policy: p}, nil
}

// recorded is an answer of a service whose client is our own: JSON, narrowed by the
// parameters that are members of an item.
func recorded(tree map[string]any, call string, q evidence.Question, params any) (any, error) {
	less := map[string]any{}
	for name, value := range tree {
		if list, is := value.([]any); is {
			value = items(list, func(item any) bool { return fits(item, call, q, params) })
		}
		less[name] = value
	}
	raw, err := json.Marshal(less)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return awscall.Recorded(raw), nil
}

// fits reports whether an item is what a question is for.
func fits(item any, call string, q evidence.Question, params any) bool {
	m, ok := item.(map[string]any)
	if !ok {
		return true
	}
	if call == "cloudwatchlogs:FilterLogEvents" {
		return fitsLog(m, params)
	}
	for name, want := range q {
		name = strings.TrimPrefix(name, "filter ")
		if call == "route53profiles:ListProfileAssociations" && name == "VPC" {
			name = "ResourceId"
		}
		value, has := member(m, name)
		if !has {
			if value, has = member(m, name+"Id"); !has {
				continue
			}
		}
		if text, is := value.(string); is && !slices.Contains(want, text) {
			return false
		}
	}
	return true
}

// quoted are the terms of a pattern of CloudWatch Logs: ?"a" ?"b" is a message with one of
// them.
var quoted = lazyregexp.New(`\?"([^"]*)"`)

// fitsLog reports whether an event is of the time and has one of the terms that are asked for.
func fitsLog(event map[string]any, params any) bool {
	var of struct {
		Start   int64  `json:"startTime"`
		End     int64  `json:"endTime"`
		Pattern string `json:"filterPattern"`
	}
	raw, err := json.Marshal(params)
	if err != nil || json.Unmarshal(raw, &of) != nil {
		return false
	}
	at, _ := event["timestamp"].(json.Number)
	n, err := at.Int64()
	if err != nil || n < of.Start || of.End != 0 && n > of.End {
		return false
	}
	message, _ := event["message"].(string)
	terms := quoted.FindAllStringSubmatch(of.Pattern, -1)
	return len(terms) == 0 || slices.ContainsFunc(terms, func(term []string) bool { return strings.Contains(message, term[1]) })
}

// described reports whether EKS's answer about a cluster is in the capture: one that was not
// described has no API to go to.
func (c *Capture) described(cluster string) bool {
	out, err := typed[eks.DescribeClusterOutput](c, "eks-describe-cluster", cluster)
	return err == nil && out.Cluster != nil
}

// Endpoints are the ways to the clusters' Kubernetes APIs.
func (c *Capture) Endpoints(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
	return "https://" + cluster + ".capture.invalid", nil, apiServer{c, cluster}, c.described(cluster)
}

// apiServer answers requests to a cluster's Kubernetes API.
type apiServer struct {
	capture *Capture
	cluster string
}

// RoundTrip answers a request.
func (s apiServer) RoundTrip(req *http.Request) (*http.Response, error) {
	status := http.StatusOK
	body, err := s.get(req)
	if err != nil {
		var refused statusError
		if !errors.As(err, &refused) {
			return nil, err
		}
		status = refused.Code
		if body, err = json.Marshal(map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": refused.Reason, "message": refused.Message, "code": refused.Code,
		}); err != nil {
			return nil, fmt.Errorf("refuse %s: %w", req.URL.Path, err)
		}
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// statusError is an answer that is not a success (Kubernetes, "Status" of the meta API).
type statusError struct {
	Code            int
	Reason, Message string
}

// Error is the reason.
func (s statusError) Error() string { return s.Reason + ": " + s.Message }

// get is the body of an answer. An error may be a statusError.
func (s apiServer) get(req *http.Request) ([]byte, error) {
	query := req.URL.Query()
	file, q := evidence.KubernetesFile(s.cluster, req.URL.Path, query)
	if file == "" {
		parts := strings.Split(req.URL.Path, "/")
		return nil, kubernetes(s.capture.absent(capture.FileName("kubectl-get-"+parts[len(parts)-1], s.cluster)))
	}
	if err := s.capture.asked(file, q); err != nil {
		return nil, kubernetes(err)
	}
	out, err := s.capture.read(file)
	if err != nil {
		return nil, kubernetes(err)
	}
	tree, ok := out.(map[string]any)
	if !ok {
		return nil, kubernetes(apiError(NotCaptured, "%s.json is not of Kubernetes", file))
	}
	all, version, err := objects(tree)
	if err != nil {
		return nil, err
	}
	if strings.Contains(req.URL.Path, "/aws-") { // aws-node and aws-auth
		name := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
		for _, o := range all {
			if fieldOfObject(o, "metadata.name") == name {
				return json.Marshal(o)
			}
		}
		return nil, statusError{http.StatusNotFound, "NotFound", fmt.Sprintf("%q not found", name)}
	}
	namespace := q["namespace"]
	fields, known := terms(query.Get("fieldSelector"))
	labels, also := terms(query.Get("labelSelector"))
	if !known || !also {
		return nil, kubernetes(apiError(NotCaptured, "%s.json: this selector cannot be answered from a capture: %v", file, q))
	}
	all = items(all, func(o map[string]any) bool {
		if len(namespace) > 0 && fieldOfObject(o, "metadata.namespace") != namespace[0] {
			return false
		}
		for _, t := range fields {
			if fieldOfObject(o, t[0]) != t[1] {
				return false
			}
		}
		meta, _ := o["metadata"].(map[string]any)
		has, _ := meta["labels"].(map[string]any)
		return !slices.ContainsFunc(labels, func(t [2]string) bool { return has[t[0]] != t[1] })
	})
	return json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": version}, "items": all})
}

// terms are those of a selector whose every term is an equality, as all of Rollcall's are;
// false for another one, which would leave out what it should not.
func terms(selector string) (list [][2]string, known bool) {
	if selector == "" {
		return nil, true
	}
	for term := range strings.SplitSeq(selector, ",") {
		name, value, ok := strings.Cut(term, "=")
		if !ok || strings.HasSuffix(name, "!") || strings.HasPrefix(value, "=") || strings.ContainsAny(term, " ()") {
			return nil, false
		}
		list = append(list, [2]string{name, value})
	}
	return list, true
}

// fieldOfObject is the text of a field, by its path: "" where there is none.
func fieldOfObject(o map[string]any, path string) string {
	var v any = o
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	text, _ := v.(string)
	return text
}

// launchTemplateVersions answers with the versions that the capture holds. The file holds
// those of the templates that were looked at: one that it lacks was not looked at, unless it
// says that there is none at all.
func (c *Capture) launchTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	const file = "ec2-describe-launch-template-versions"
	all, err := typed[ec2.DescribeLaunchTemplateVersionsOutput](c, file)
	if err != nil {
		return nil, err
	}
	id, name := aws.ToString(in.LaunchTemplateId), aws.ToString(in.LaunchTemplateName)
	list := items(all.LaunchTemplateVersions, func(v ec2types.LaunchTemplateVersion) bool {
		return (id == "" || aws.ToString(v.LaunchTemplateId) == id) && (name == "" || aws.ToString(v.LaunchTemplateName) == name)
	})
	switch {
	case len(list) == 0 && len(all.LaunchTemplateVersions) == 0 && id != "":
		return nil, apiError("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	case len(list) == 0 && len(all.LaunchTemplateVersions) == 0 && name != "":
		return nil, apiError("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
	case len(list) == 0:
		return nil, apiError(NotCaptured, "%s.json of the capture does not hold the launch template %s%s", file, id, name)
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: list}
	if len(in.Versions) == 0 {
		return out, nil
	}
	out.LaunchTemplateVersions = nil
	for _, want := range in.Versions {
		v, ok := version(list, want)
		if !ok {
			return nil, apiError(NotCaptured, "%s.json of the capture does not hold the version %s of the launch template %s%s", file, want, id, name)
		}
		out.LaunchTemplateVersions = append(out.LaunchTemplateVersions, v)
	}
	return out, nil
}

// special answers calls that are not a file's list alone; nil is none of them.
func (c *Capture) special(params any) (any, error) {
	switch in := params.(type) {
	case *ec2.DescribeLaunchTemplateVersionsInput:
		return c.launchTemplateVersions(in)
	case *ec2.DescribeImagesInput:
		if len(in.Owners) > 0 {
			return nil, apiError(NotCaptured, "a capture holds the images that something names, and not all of an owner")
		}
	case *autoscaling.DescribeWarmPoolInput:
		return c.warmPool(aws.ToString(in.AutoScalingGroupName))
	case *autoscaling.DescribeScalingActivitiesInput:
		return c.activities(in)
	case *eks.DescribeAccessEntryInput:
		out, err := typed[eks.DescribeAccessEntryOutput](c, "eks-describe-access-entry", aws.ToString(in.ClusterName), lastPart(aws.ToString(in.PrincipalArn)))
		if err == nil && out.AccessEntry != nil {
			err = samePrincipal("access entry", out.AccessEntry.PrincipalArn, in.PrincipalArn)
		}
		return out, err
	case *eks.ListAssociatedAccessPoliciesInput:
		out, err := typed[eks.ListAssociatedAccessPoliciesOutput](c, "eks-list-associated-access-policies", aws.ToString(in.ClusterName), lastPart(aws.ToString(in.PrincipalArn)))
		if err == nil {
			err = samePrincipal("access policies", out.PrincipalArn, in.PrincipalArn)
		}
		return out, err
	case *eks.ListUpdatesInput:
		return c.updates(in)
	}
	return nil, nil
}

// samePrincipal refuses what is of another principal: a file has the role's name, so two
// entries of the same name and different paths, or of a role and a user, share one.
func samePrincipal(what string, have, want *string) error {
	if have != nil && *have != aws.ToString(want) {
		return apiError(NotCaptured, "the capture holds the %s of %s, not that of %s", what, *have, aws.ToString(want))
	}
	return nil
}

// mostActivities is the largest page of DescribeScalingActivities, and what it gives without
// a number (Auto Scaling API reference).
const mostActivities = 100

// activities are a group's, newest first.
func (c *Capture) activities(in *autoscaling.DescribeScalingActivitiesInput) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	all, err := typed[autoscaling.DescribeScalingActivitiesOutput](c, "autoscaling-describe-scaling-activities")
	if err != nil {
		return nil, err
	}
	group := aws.ToString(in.AutoScalingGroupName)
	list := items(all.Activities, func(x astypes.Activity) bool {
		return (group == "" || aws.ToString(x.AutoScalingGroupName) == group) &&
			(len(in.ActivityIds) == 0 || slices.Contains(in.ActivityIds, aws.ToString(x.ActivityId)))
	})
	most := mostActivities
	if n := int(aws.ToInt32(in.MaxRecords)); n > 0 {
		most = min(n, most)
	}
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: list[:min(len(list), most)]}, nil
}

// updates are the ids of a node group's updates, or the cluster's, with those that are
// described.
func (c *Capture) updates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	keys := []string{aws.ToString(in.Name)}
	for _, k := range []*string{in.NodegroupName, in.AddonName} {
		if k != nil {
			keys = append(keys, *k)
		}
	}
	out, err := typed[eks.ListUpdatesOutput](c, "eks-list-updates", keys...)
	described := c.describedUpdates(keys)
	var e *smithy.GenericAPIError
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

// warmPool is what DescribeWarmPool answers: a
// capture has no file of warm pools, and DescribeAutoScalingGroups lists no instance of
// one (kops, upup/pkg/fi/cloudup/awsup/aws_cloud.go, findAutoscalingGroups, reads
// both). They have the group's tag, are none of its members, and are in the pool's
// state, or the newest activity about them brought them into the pool.
func (c *Capture) warmPool(name string) (*autoscaling.DescribeWarmPoolOutput, error) {
	all, err := typed[autoscaling.DescribeAutoScalingGroupsOutput](c, "autoscaling-describe-auto-scaling-groups")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all.AutoScalingGroups, func(g astypes.AutoScalingGroup) bool { return aws.ToString(g.AutoScalingGroupName) == name })
	if i < 0 {
		return nil, apiError("ValidationError", "AutoScalingGroup name not found - no such group: %s", name)
	}
	g := all.AutoScalingGroups[i]
	out := &autoscaling.DescribeWarmPoolOutput{WarmPoolConfiguration: g.WarmPoolConfiguration, Instances: items(g.Instances, func(i astypes.Instance) bool {
		return strings.HasPrefix(string(i.LifecycleState), "Warmed:")
	})}
	described, err := typed[ec2.DescribeInstancesOutput](c, "ec2-describe-instances")
	if err != nil || g.WarmPoolConfiguration == nil {
		return out, nil
	}
	brought := c.broughtInto(name)
	for _, r := range described.Reservations {
		for _, in := range r.Instances {
			id := aws.ToString(in.InstanceId)
			member := slices.ContainsFunc(g.Instances, func(m astypes.Instance) bool { return aws.ToString(m.InstanceId) == id })
			ofGroup := slices.Contains(tagValues(reflect.ValueOf(in), "", "aws:autoscaling:groupName"), name)
			if state := warmState(in, g.WarmPoolConfiguration, brought[id]); state != "" && ofGroup && !member {
				out.Instances = append(out.Instances, astypes.Instance{InstanceId: in.InstanceId, LifecycleState: state})
			}
		}
	}
	return out, nil
}

// broughtInto are the instances that an activity brought into the warm pool of a group
// and none later out of it.
func (c *Capture) broughtInto(group string) map[string]bool {
	out, err := c.activities(&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: &group})
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

// describedUpdates are the ids of the updates that the capture describes,
// sorted: who looked at one knew its id, and need not have kept the list.
func (c *Capture) describedUpdates(keys []string) []string {
	var list []string
	for name, file := range c.files {
		if _, ok := file.(*eks.DescribeUpdateOutput); !ok {
			continue
		}
		for _, prefix := range []string{capture.FileName("eks-describe-update", keys...), plainName("eks-describe-update", slices.Clone(keys)...)} {
			id, ok := strings.CutPrefix(name, prefix+".")
			if ok && id != "" && !strings.Contains(id, ".") && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return list
}
