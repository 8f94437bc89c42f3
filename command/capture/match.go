package capture

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/aws/smithy-go"

	"rollcall/shared/capture"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/snapshot"
)

// filterable reports whether a type has what a filter looks at. A filter's name follows the
// fields: "attachment.vpc-id" is VpcId in each of Attachments.
func filterable(t reflect.Type, path string) bool {
	if path == "tag-key" || path == "tag-value" || strings.HasPrefix(path, "tag:") {
		_, ok := tagField(t)
		return ok
	}
	for name := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return false
		}
		f, ok := fieldOf(t, name)
		if !ok {
			return false
		}
		t = f.Type
	}
	return true
}

// values are what a filter looks at in one resource.
func values(v reflect.Value, path string) []string {
	if strings.HasPrefix(path, "tag") {
		if key, ok := strings.CutPrefix(path, "tag:"); ok || path == "tag-key" || path == "tag-value" {
			return tagValues(v, path, key)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return values(v.Elem(), path)
	case reflect.Slice:
		var out []string
		for i := range v.Len() {
			out = append(out, values(v.Index(i), path)...)
		}
		return out
	}
	if path == "" {
		return []string{fmt.Sprint(v.Interface())}
	}
	name, rest, _ := strings.Cut(path, ".")
	if v.Kind() != reflect.Struct {
		return nil
	}
	f, ok := fieldOf(v.Type(), name)
	if !ok {
		return nil
	}
	field := v.FieldByIndex(f.Index)
	if rest == "" && field.Kind() == reflect.Pointer && field.IsNil() && field.Type().Elem().Kind() == reflect.Bool {
		return []string{"false"} // EC2 leaves switches out that are off
	}
	return values(field, rest)
}

// tagValues are the keys of a resource's tags, all their values, or that of one key.
func tagValues(v reflect.Value, path, key string) []string {
	name, ok := tagField(v.Type())
	if !ok {
		return nil
	}
	var out []string
	for _, t := range each(v.FieldByName(name)) {
		switch {
		case path == "tag-key":
			out = append(out, text(t, "Key"))
		case path == "tag-value" || text(t, "Key") == key:
			out = append(out, text(t, "Value"))
		}
	}
	return out
}

// fieldOf finds the field of a filter's name: "vpc-id" is VpcId, and a list's
// name may be in the plural.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	name = strings.ReplaceAll(name, "-", "")
	for _, ending := range []string{"", "s", "set"} {
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && strings.EqualFold(f.Name, name+ending) {
				return f, true
			}
		}
	}
	return reflect.StructField{}, false
}

// tagField is the field that holds a type's tags: network interfaces have another than the
// rest.
func tagField(t reflect.Type) (string, bool) {
	for _, name := range []string{"Tags", "TagSet"} {
		if f, ok := t.FieldByName(name); ok && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			return name, true
		}
	}
	return "", false
}

// What a capture is taken to be of where no file tells.
const (
	noAccount = "000000000000"
	noRegion  = "us-east-1"
)

// arnParts takes the region and the account out of an ARN.
var arnParts = lazyregexp.New(`^arn:[a-z-]+:[a-z0-9-]+:([a-z0-9-]+):([0-9]{12}):`)

// zoneRegion takes the region out of an availability zone's name, and out of
// that of a local or wavelength zone.
var zoneRegion = lazyregexp.New(`^([a-z]{2}(?:-[a-z]+)+-[0-9]+)(?:[a-z]$|-)`)

// identify finds out what the capture is of: its clusters, account and region.
func (c *Capture) identify() {
	set := map[string]bool{}
	if list, ok := c.files["eks-list-clusters"].(*eks.ListClustersOutput); ok {
		for _, name := range list.Clusters {
			set[name] = true
		}
		delete(set, "")
	}
	for _, name := range c.names("eks-describe-cluster") {
		out, ok := c.files[name].(*eks.DescribeClusterOutput)
		if !ok || out.Cluster == nil {
			continue
		}
		if called := aws.ToString(out.Cluster.Name); called != "" {
			set[called] = true
		}
		c.setAccountAndRegion(aws.ToString(out.Cluster.Arn))
	}
	c.Clusters = slices.Sorted(maps.Keys(set))
	if out, ok := c.files["sts-get-caller-identity"].(*sts.GetCallerIdentityOutput); ok && aws.ToString(out.Account) != "" {
		c.Account = *out.Account
	}
	c.byEvent()
	c.byZone()
	if c.Account == "" {
		c.Account = noAccount
	}
	if c.Region == "" {
		c.Region = noRegion
		c.warn("no file has the region: assuming %s", noRegion)
	}
}

// setAccountAndRegion takes account and region from an ARN, unless they are known.
func (c *Capture) setAccountAndRegion(arn string) {
	m := arnParts.FindStringSubmatch(arn)
	if m == nil {
		return
	}
	if c.Region == "" {
		c.Region = m[1]
	}
	if c.Account == "" {
		c.Account = m[2]
	}
}

func (c *Capture) byEvent() {
	var e struct{ Account, Region string }
	if c.Event == nil || json.Unmarshal(c.Event, &e) != nil {
		return
	}
	if c.Region == "" {
		c.Region = e.Region
	}
	if c.Account == "" {
		c.Account = e.Account
	}
}

func (c *Capture) byZone() {
	var zones []string
	if out, ok := c.files["ec2-describe-subnets"].(*ec2.DescribeSubnetsOutput); ok {
		for _, s := range out.Subnets {
			zones = append(zones, aws.ToString(s.AvailabilityZone))
		}
	}
	if out, ok := c.files["ec2-describe-instances"].(*ec2.DescribeInstancesOutput); ok {
		for _, r := range out.Reservations {
			for _, in := range r.Instances {
				if in.Placement != nil {
					zones = append(zones, aws.ToString(in.Placement.AvailabilityZone))
				}
			}
		}
	}
	for _, z := range zones {
		if m := zoneRegion.FindStringSubmatch(z); m != nil && c.Region == "" {
			c.Region = m[1]
		}
	}
}

// Bare reports whether nothing of a cluster runs, by the tags of instances and groups,
// beside a cluster whose nodes are in the capture: such a cluster's files may be missing.
func (c *Capture) Bare(cluster string) bool {
	if _, nodes := c.files[c.find("kubectl-get-nodes", []string{cluster})]; nodes || len(c.names("kubectl-get-nodes")) == 0 {
		return false
	}
	runs := false
	for _, file := range c.files {
		switch out := file.(type) {
		case *ec2.DescribeInstancesOutput:
			for _, r := range out.Reservations {
				for _, in := range r.Instances {
					tags := map[string]string{}
					for _, t := range in.Tags {
						tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
					}
					of, _ := gather.ClusterOf(tags)
					runs = runs || of == cluster
				}
			}
		case *autoscaling.DescribeAutoScalingGroupsOutput:
			for _, g := range out.AutoScalingGroups {
				tags := map[string]string{}
				for _, t := range g.Tags {
					tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
				}
				of, _ := gather.ClusterOf(tags)
				runs = runs || of == cluster
			}
		}
	}
	return !runs
}

// objects are the items of what kubectl printed: a list, or one object. An error is a
// statusError.
func objects(tree map[string]any) (list []map[string]any, version string, err error) {
	meta, _ := tree["metadata"].(map[string]any)
	version, _ = meta["resourceVersion"].(string)
	if token, _ := meta["continue"].(string); token != "" {
		return nil, "", statusError{http.StatusNotImplemented, NotCaptured, "the capture holds only the first page of the list"}
	}
	if tree["kind"] == "Status" {
		s := statusError{Code: http.StatusInternalServerError}
		s.Reason, _ = tree["reason"].(string)
		s.Message, _ = tree["message"].(string)
		if n, ok := tree["code"].(json.Number); ok {
			if code, err := n.Int64(); err == nil {
				s.Code = int(code)
			}
		}
		return nil, "", s
	}
	if _, ok := tree["items"]; !ok {
		return []map[string]any{tree}, version, nil
	}
	all, _ := tree["items"].([]any)
	for _, item := range all {
		if object, ok := item.(map[string]any); ok {
			list = append(list, object)
		}
	}
	return list, version, nil
}

// filterLogEvents is the operation whose files hold what log groups had.
const filterLogEvents = "logs-filter-log-events"

// LogGroups are the names of the log groups of which the capture holds events, sorted.
func (c *Capture) LogGroups() []string {
	var list []string
	for _, name := range c.names(filterLogEvents) {
		if _, keys := splitName(name); len(keys) > 0 {
			list = append(list, strings.Join(keys, "."))
		}
	}
	return list
}

// visibilityFile tells how the account's setting is.
const visibilityFile = "ec2-get-managed-resource-visibility"

// lacksManaged reports whether EC2's lists may lack what AWS services manage: EKS Auto
// Mode runs nodes, nothing that it manages is in the capture, and the account's
// setting hides it, or is not told.
func (c *Capture) lacksManaged() bool {
	if out, told := c.files[visibilityFile].(*ec2.GetManagedResourceVisibilityOutput); told && out.Visibility != nil &&
		out.Visibility.DefaultVisibility == ec2types.ManagedResourceDefaultVisibilityVisible {
		return false
	}
	auto := false
	for _, file := range c.files {
		switch out := file.(type) {
		case *eks.DescribeClusterOutput:
			auto = auto || out.Cluster != nil && out.Cluster.ComputeConfig != nil && aws.ToBool(out.Cluster.ComputeConfig.Enabled)
		case *ec2.DescribeInstancesOutput:
			for _, r := range out.Reservations {
				if slices.ContainsFunc(r.Instances, func(in ec2types.Instance) bool { return managed(in.Operator) }) {
					return false
				}
			}
		case *ec2.DescribeNetworkInterfacesOutput:
			if slices.ContainsFunc(out.NetworkInterfaces, func(n ec2types.NetworkInterface) bool { return managed(n.Operator) }) {
				return false
			}
		}
	}
	return auto
}

func managed(o *ec2types.OperatorResponse) bool { return o != nil && aws.ToBool(o.Managed) }

// WithoutManaged is what such a capture is.
const WithoutManaged = "EKS Auto Mode runs nodes, and the capture has nothing that it manages (take it with --include-managed-resources)"

// unseen refuses to tell of instances that a filter names by id and the capture
// does not hold, where it may lack them: that EC2 does not know them is not said.
func (c *Capture) unseen(q evidence.Question, list []ec2types.Instance) error {
	for _, id := range q["filter instance-id"] {
		known := slices.ContainsFunc(list, func(in ec2types.Instance) bool { return aws.ToString(in.InstanceId) == id })
		if !known && c.lacksManaged() {
			return apiError(NotCaptured, "%s: %s may be hidden", WithoutManaged, id)
		}
	}
	return nil
}

// uncounted refuses to give all interfaces of a VPC where some may be lacking:
// what they hold would look free.
func (c *Capture) uncounted(q evidence.Question) error {
	for name := range q {
		if strings.HasPrefix(name, "filter ") && name != "filter vpc-id" {
			return nil
		}
	}
	if !c.lacksManaged() {
		return nil
	}
	return apiError(NotCaptured, "%s: its interfaces may be hidden", WithoutManaged)
}

// plainName is the name with the dots of its keys left as they are, as a
// person may have written it by hand. It is looked for second.
func plainName(operation string, keys ...string) string {
	for i, k := range keys {
		keys[i] = strings.ReplaceAll(k, "/", "__")
	}
	return strings.Join(append([]string{operation}, keys...), ".")
}

// tidyName is a name as the index of files keeps it. Slashes occur in the keys
// of errors.json, whose author may not have escaped them.
func tidyName(name string) string {
	name = strings.TrimSuffix(name, ".json")
	return strings.NewReplacer("%2e", "%2E", "/", "__").Replace(name)
}

// splitName is the operation and the keys of a file's name. A key that holds
// "__" of its own comes out with a slash: for listing names that hold none.
func splitName(name string) (operation string, keys []string) {
	parts := strings.Split(name, ".")
	for _, k := range parts[1:] {
		keys = append(keys, strings.NewReplacer("%2E", ".", "__", "/").Replace(k))
	}
	return parts[0], keys
}

// operations are the files that a capture may hold, by the first part of their
// name, with the type of what they hold. Kubernetes' objects are kept as they
// are: their type is nil.
func operations() map[string]reflect.Type {
	return map[string]reflect.Type{
		"sts-get-caller-identity": reflect.TypeFor[sts.GetCallerIdentityOutput](),

		"ec2-describe-instances":                     reflect.TypeFor[ec2.DescribeInstancesOutput](),
		"ec2-describe-instance-status":               reflect.TypeFor[ec2.DescribeInstanceStatusOutput](),
		"ec2-describe-instance-types":                reflect.TypeFor[ec2.DescribeInstanceTypesOutput](),
		"ec2-describe-instance-type-offerings":       reflect.TypeFor[ec2.DescribeInstanceTypeOfferingsOutput](),
		"ec2-describe-capacity-reservations":         reflect.TypeFor[ec2.DescribeCapacityReservationsOutput](),
		"ec2-describe-placement-groups":              reflect.TypeFor[ec2.DescribePlacementGroupsOutput](),
		"ec2-describe-instance-attribute":            reflect.TypeFor[ec2.DescribeInstanceAttributeOutput](),
		"ec2-get-console-output":                     reflect.TypeFor[ec2.GetConsoleOutputOutput](),
		"ec2-describe-subnets":                       reflect.TypeFor[ec2.DescribeSubnetsOutput](),
		"ec2-describe-vpcs":                          reflect.TypeFor[ec2.DescribeVpcsOutput](),
		"ec2-describe-vpc-attribute":                 reflect.TypeFor[ec2.DescribeVpcAttributeOutput](),
		"ec2-describe-route-tables":                  reflect.TypeFor[ec2.DescribeRouteTablesOutput](),
		"ec2-describe-nat-gateways":                  reflect.TypeFor[ec2.DescribeNatGatewaysOutput](),
		"ec2-describe-internet-gateways":             reflect.TypeFor[ec2.DescribeInternetGatewaysOutput](),
		"ec2-describe-egress-only-internet-gateways": reflect.TypeFor[ec2.DescribeEgressOnlyInternetGatewaysOutput](),
		"ec2-describe-vpc-endpoints":                 reflect.TypeFor[ec2.DescribeVpcEndpointsOutput](),
		"ec2-describe-security-groups":               reflect.TypeFor[ec2.DescribeSecurityGroupsOutput](),
		"ec2-describe-network-acls":                  reflect.TypeFor[ec2.DescribeNetworkAclsOutput](),
		"ec2-describe-dhcp-options":                  reflect.TypeFor[ec2.DescribeDhcpOptionsOutput](),
		"ec2-describe-network-interfaces":            reflect.TypeFor[ec2.DescribeNetworkInterfacesOutput](),
		"ec2-describe-availability-zones":            reflect.TypeFor[ec2.DescribeAvailabilityZonesOutput](),
		"ec2-describe-volumes":                       reflect.TypeFor[ec2.DescribeVolumesOutput](),
		"ec2-describe-instance-image-metadata":       reflect.TypeFor[ec2.DescribeInstanceImageMetadataOutput](),
		"ec2-describe-images":                        reflect.TypeFor[ec2.DescribeImagesOutput](),
		"ec2-describe-managed-prefix-lists":          reflect.TypeFor[ec2.DescribeManagedPrefixListsOutput](),
		"ec2-get-managed-prefix-list-entries":        reflect.TypeFor[ec2.GetManagedPrefixListEntriesOutput](),
		"ec2-describe-launch-template-versions":      reflect.TypeFor[ec2.DescribeLaunchTemplateVersionsOutput](),
		"ec2-describe-vpc-peering-connections":       reflect.TypeFor[ec2.DescribeVpcPeeringConnectionsOutput](),
		"ec2-describe-transit-gateway-attachments":   reflect.TypeFor[ec2.DescribeTransitGatewayAttachmentsOutput](),
		"ec2-describe-transit-gateway-route-tables":  reflect.TypeFor[ec2.DescribeTransitGatewayRouteTablesOutput](),
		"ec2-search-transit-gateway-routes":          reflect.TypeFor[ec2.SearchTransitGatewayRoutesOutput](),
		"ec2-get-allowed-images-settings":            reflect.TypeFor[ec2.GetAllowedImagesSettingsOutput](),
		"ec2-get-instance-metadata-defaults":         reflect.TypeFor[ec2.GetInstanceMetadataDefaultsOutput](),
		"ec2-get-managed-resource-visibility":        reflect.TypeFor[ec2.GetManagedResourceVisibilityOutput](),
		"ec2-get-subnet-cidr-reservations":           reflect.TypeFor[ec2.GetSubnetCidrReservationsOutput](),

		"ec2-describe-vpc-block-public-access-options":    reflect.TypeFor[ec2.DescribeVpcBlockPublicAccessOptionsOutput](),
		"ec2-describe-vpc-block-public-access-exclusions": reflect.TypeFor[ec2.DescribeVpcBlockPublicAccessExclusionsOutput](),
		"ec2-describe-security-group-vpc-associations":    reflect.TypeFor[ec2.DescribeSecurityGroupVpcAssociationsOutput](),

		"route53-list-hosted-zones-by-vpc":  nil,
		"route53-list-resource-record-sets": nil,

		"route53profiles-list-profile-associations":          nil,
		"route53profiles-list-profile-resource-associations": nil,

		"route53resolver-list-firewall-rule-group-associations": nil,
		"route53resolver-list-firewall-rules":                   nil,
		"route53resolver-list-firewall-domains":                 nil,
		"route53resolver-list-resolver-rules":                   nil,
		"route53resolver-list-resolver-rule-associations":       nil,

		"arc-zonal-shift-list-zonal-shifts":      nil,
		"arc-zonal-shift-list-autoshifts":        nil,
		"arc-zonal-shift-list-managed-resources": nil,

		"autoscaling-describe-auto-scaling-groups": reflect.TypeFor[autoscaling.DescribeAutoScalingGroupsOutput](),
		"autoscaling-describe-scaling-activities":  reflect.TypeFor[autoscaling.DescribeScalingActivitiesOutput](),

		"eks-list-clusters":                     reflect.TypeFor[eks.ListClustersOutput](),
		"eks-describe-cluster":                  reflect.TypeFor[eks.DescribeClusterOutput](),
		"eks-list-nodegroups":                   reflect.TypeFor[eks.ListNodegroupsOutput](),
		"eks-describe-nodegroup":                reflect.TypeFor[eks.DescribeNodegroupOutput](),
		"eks-list-addons":                       reflect.TypeFor[eks.ListAddonsOutput](),
		"eks-describe-addon":                    reflect.TypeFor[eks.DescribeAddonOutput](),
		"eks-list-access-entries":               reflect.TypeFor[eks.ListAccessEntriesOutput](),
		"eks-describe-access-entry":             reflect.TypeFor[eks.DescribeAccessEntryOutput](),
		"eks-list-associated-access-policies":   reflect.TypeFor[eks.ListAssociatedAccessPoliciesOutput](),
		"eks-list-pod-identity-associations":    reflect.TypeFor[eks.ListPodIdentityAssociationsOutput](),
		"eks-describe-pod-identity-association": reflect.TypeFor[eks.DescribePodIdentityAssociationOutput](),
		"eks-list-updates":                      reflect.TypeFor[eks.ListUpdatesOutput](),
		"eks-describe-update":                   reflect.TypeFor[eks.DescribeUpdateOutput](),

		"iam-get-instance-profile":        reflect.TypeFor[iam.GetInstanceProfileOutput](),
		"iam-get-role":                    reflect.TypeFor[iam.GetRoleOutput](),
		"iam-list-attached-role-policies": reflect.TypeFor[iam.ListAttachedRolePoliciesOutput](),
		"iam-list-role-policies":          reflect.TypeFor[iam.ListRolePoliciesOutput](),
		"iam-get-role-policy":             reflect.TypeFor[iam.GetRolePolicyOutput](),
		"iam-get-policy-version":          reflect.TypeFor[iam.GetPolicyVersionOutput](),

		"logs-describe-delivery-sources":      nil,
		"logs-describe-deliveries":            nil,
		"logs-describe-delivery-destinations": nil,
		"logs-filter-log-events":              nil,

		// AWS Health's events are not served yet: no function asks for them.
		"health-describe-events": nil,

		// CloudTrail's records of calls for instances are read beside what is served.
		recordsFile: nil,

		"kubectl-get-nodes":                   nil,
		"kubectl-get-pods":                    nil,
		"kubectl-get-pv":                      nil,
		"kubectl-get-pvc":                     nil,
		"kubectl-get-daemonset-aws-node":      nil,
		"kubectl-get-serviceaccount-aws-node": nil,
		"kubectl-get-configmap-aws-auth":      nil,
		"kubectl-get-csr":                     nil,
		"kubectl-get-events":                  nil,
		"kubectl-get-eniconfigs":              nil,
		"kubectl-get-nodepools":               nil,
		"kubectl-get-nodeclaims":              nil,
		"kubectl-get-ec2nodeclasses":          nil,
		"kubectl-get-nodeclasses":             nil,
		"kubectl-get-cninodes":                nil,
	}
}

// find is the name under which a call is kept: the escaped one, or the one
// with plain dots if only that is there.
func (c *Capture) find(operation string, keys []string) string {
	name := capture.FileName(operation, keys...)
	if c.has(name) {
		return name
	}
	if plain := plainName(operation, append([]string(nil), keys...)...); c.has(plain) {
		return plain
	}
	return name
}

func (c *Capture) has(name string) bool {
	_, file := c.files[name]
	_, refused := c.refused[name]
	return file || refused || c.partial[name]
}

// items are the values of a list of pointers' targets, kept in order.
func items[T any](list []T, keep func(T) bool) []T {
	out := make([]T, 0, len(list))
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// text is the text of a field, by name: "" where there is none.
func text(v reflect.Value, field string) string {
	f := reflect.Indirect(v).FieldByName(field)
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return ""
		}
		f = f.Elem()
	}
	if f.Kind() != reflect.String {
		return ""
	}
	return f.String()
}

// NotCaptured is the error code of a call whose answer the capture does not
// hold. package gather takes it for what it is: it was not looked at.
const NotCaptured = snapshot.NotCaptured

// NotAmong is in the message of a type that the file of types does not hold: it holds
// those that were in use.
const NotAmong = "of the capture does not hold the type"

// refusal is a call that was refused when the capture was taken.
type refusal struct{ code, message string }

// takeRefusals reads errors.json. An entry that is text instead of an object
// is the code alone.
func (c *Capture) takeRefusals(path string, tree any) error {
	for key, v := range tree.(map[string]any) {
		var r refusal
		switch v := v.(type) {
		case string:
			r.code = v
		case map[string]any:
			code, _ := member(v, "code")
			message, _ := member(v, "message")
			r.code, _ = code.(string)
			r.message, _ = message.(string)
		}
		if r.code == "" {
			return &Error{path, fmt.Sprintf(`%q: want {"code": "…", "message": "…"}`, key)}
		}
		name := tidyName(key)
		if operation, _ := splitName(name); !isOperation(operation) {
			c.warn("errors.json: %q is not a call that a capture has; it is left out", key)
			continue
		}
		c.refused[name] = r
	}
	return nil
}

func isOperation(name string) bool {
	_, ok := operations()[name]
	return ok
}

// absent is the answer to a call whose file is not there.
func (c *Capture) absent(name string) error {
	if r, ok := c.refused[name]; ok {
		return r.aws()
	}
	if c.partial[name] {
		return apiError(NotCaptured, "%s.json holds only the first page of the answer", name)
	}
	if why := c.leftOut[name]; why != "" {
		return apiError(NotCaptured, "the capture has no %s.json: %s", name, why)
	}
	return apiError(NotCaptured, "the capture has no %s.json", name)
}

// leftOutFile lists what whoever took the capture did not ask for.
const leftOutFile = "left-out.json"

// takeLeftOut reads what was left out, so that it is reported where it is missed.
func (c *Capture) takeLeftOut(path string, tree any) error {
	list, ok := tree.([]any)
	if !ok {
		return &Error{path, "want a list, got " + kindOf(tree)}
	}
	for _, item := range list {
		m, _ := item.(map[string]any)
		file, _ := m["file"].(string)
		why, _ := m["why"].(string)
		if file == "" || why == "" {
			return &Error{path, `want entries {"file": "…", "why": "…"}`}
		}
		c.leftOut[tidyName(file)] = why
	}
	return nil
}

// aws is the refusal as the service gave it.
func (r refusal) aws() *smithy.GenericAPIError {
	if again(r.code) {
		return apiError(NotCaptured, "the call was throttled or timed out when the capture was taken: %s %s", r.code, r.message)
	}
	return apiError(r.code, "%s", r.message)
}

// again reports whether a code is one on which AWS's clients ask again whatever the status
// is (aws-sdk-go-v2, retry.DefaultThrottleErrorCodes and
// DefaultRetryableErrorCodes): a capture's answer would stay the same, until
// the function's time is up.
func again(code string) bool {
	switch code {
	case "RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete",
		"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException", "RequestTimeout", "RequestTimeoutException":
		return true
	}
	return strings.Contains(code, "Throttl")
}

func denied(code string) bool {
	return strings.HasPrefix(code, "AccessDenied") || code == "UnauthorizedOperation" || code == "Forbidden" || code == "AuthFailure"
}

// kubernetes is a refusal as the Kubernetes API gives it.
func kubernetes(err error) error {
	var w *smithy.GenericAPIError
	if !errors.As(err, &w) {
		return err
	}
	s := statusError{http.StatusInternalServerError, w.Code, cmp.Or(w.Message, w.Code)}
	switch {
	case w.Code == NotCaptured:
		s.Code = http.StatusNotImplemented
	case denied(w.Code):
		s.Code, s.Reason = http.StatusForbidden, "Forbidden"
	case w.Code == "Unauthorized":
		s.Code = http.StatusUnauthorized
	case w.Code == "NotFound" || strings.HasSuffix(w.Code, "NotFoundException") || w.Code == "404":
		s.Code, s.Reason = http.StatusNotFound, "NotFound"
	case w.Code == "TooManyRequests":
		s.Code = http.StatusTooManyRequests
	case w.Code == "ServiceUnavailable":
		s.Code = http.StatusServiceUnavailable
	case w.Code == "Timeout" || w.Code == "ServerTimeout":
		s.Code = http.StatusGatewayTimeout
	}
	return s
}

// recordsFile is the operation whose files hold CloudTrail's records of calls.
const recordsFile = "cloudtrail-lookup-events"

// callsFor is how long a refused call for instances counts, as a failed scaling activity
// does (the contract of captures).
const callsFor = time.Hour

// LaunchCalls are CloudTrail's records of calls for instances of the capture's last hour,
// oldest first. What cannot be read as a record is left out.
func (c *Capture) LaunchCalls() []json.RawMessage {
	type record struct {
		at  time.Time
		raw json.RawMessage
	}
	var all []record
	for _, name := range c.names(recordsFile) {
		tree, _ := c.files[name].(map[string]any)
		events, _ := tree["Events"].([]any)
		for _, e := range events {
			event, _ := e.(map[string]any)
			text, _ := event["CloudTrailEvent"].(string)
			var told struct{ EventTime time.Time }
			if json.Unmarshal([]byte(text), &told) != nil {
				continue
			}
			if age := c.Time.Sub(told.EventTime); age >= 0 && age <= callsFor {
				all = append(all, record{told.EventTime, json.RawMessage(text)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record) int { return a.at.Compare(b.at) })
	list := make([]json.RawMessage, len(all))
	for i, r := range all {
		list[i] = r.raw
	}
	return list
}

// inBase64 is text as EC2 sends it. What is base64 already is left as it is:
// a console's text never is, as it has spaces and brackets.
func inBase64(text *string) *string {
	if text == nil || *text == "" {
		return text
	}
	packed := strings.Join(strings.Fields(*text), "")
	if _, err := base64.StdEncoding.DecodeString(packed); err == nil {
		return &packed
	}
	return aws.String(base64.StdEncoding.EncodeToString([]byte(*text)))
}

// version finds a version by its number, "$Latest" or "$Default". The newest
// that was captured is taken for the latest.
func version(list []ec2types.LaunchTemplateVersion, want string) (ec2types.LaunchTemplateVersion, bool) {
	i := -1
	switch want {
	case "$Latest":
		for k, v := range list {
			if i < 0 || aws.ToInt64(v.VersionNumber) > aws.ToInt64(list[i].VersionNumber) {
				i = k
			}
		}
	case "$Default":
		i = slices.IndexFunc(list, func(v ec2types.LaunchTemplateVersion) bool { return aws.ToBool(v.DefaultVersion) })
	default:
		i = slices.IndexFunc(list, func(v ec2types.LaunchTemplateVersion) bool {
			return strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10) == want
		})
	}
	if i < 0 {
		return ec2types.LaunchTemplateVersion{}, false
	}
	return list[i], true
}
