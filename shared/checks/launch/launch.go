// Package launch holds the checks of launch: what kept a group from launching.
package launch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/node/activity"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the check of each class of refused launches, and that of suspended ones.
func Checks() []check.Check {
	list := []check.Check{check.New(checkid.LaunchSuspended, suspended, snapshot.Groups)}
	for _, spec := range []launchSpec{
		{id: checkid.LaunchInsufficientCapacity, headline: "EC2 has no capacity", repair: otherZones},
		{
			id: checkid.LaunchCapacityReservation, headline: "its capacity reservation rejects it",
			inspect: reservationLook,
			uses:    []snapshot.Source{snapshot.LaunchTemplates, snapshot.CapacityReservations, snapshot.Subnets},
			repair:  repairCapacityReservation,
		},
		{
			id: checkid.LaunchPlacement, headline: "its placement group or host rejects it", inspect: placementLook,
			uses:   []snapshot.Source{snapshot.LaunchTemplates, snapshot.PlacementGroups, snapshot.Subnets},
			repair: repairPlacement,
		},
		{
			id: checkid.LaunchSpotLimit, headline: "the quota of Spot vCPUs is used up", resource: quotaCode(true),
			repair: raiseQuota(true),
		},
		{id: checkid.LaunchSpotPrice, headline: "Spot price above the maximum"},
		{
			id: checkid.LaunchVCPULimit, headline: "the quota of vCPUs is used up", resource: quotaCode(false),
			repair: raiseQuota(false),
		},
		{id: checkid.LaunchFleetLimit, headline: "the quota of fleet requests is used up", resource: ofAccount},
		{
			id: checkid.LaunchSubnetFull, headline: "the subnet has no free address",
			resource: func(_ *check.Attempts, t check.Attempt) string { return t.Subnet },
			repair:   freeAddresses,
		},
		{
			id: checkid.LaunchKMSKey, headline: "a volume's KMS key cannot be used", resource: kmsKey,
			repair: useKey,
		},
		{
			id: checkid.LaunchTemplate, headline: "the launch template is invalid", resource: resourceTemplate,
			titleEnd: saysTemplate, repair: showTemplate,
		},
		{
			id: checkid.LaunchAMI, headline: "its AMI cannot be used", resource: (*check.Attempts).Image,
			inspect: allowedLook, repair: repairAMI,
		},
		{
			id: checkid.LaunchSecurityGroup, headline: "a security group is missing or invalid",
			resource: func(_ *check.Attempts, t check.Attempt) string { return t.Verdict.Named.SecurityGroup },
			repair:   repairSecurityGroup,
		},
		{
			id: checkid.LaunchProfile, headline: "its instance profile does not exist",
			resource: func(_ *check.Attempts, t check.Attempt) string { return t.Verdict.Named.Profile },
			repair:   repairProfile,
		},
		{id: checkid.LaunchUnauthorized, headline: "the launching role lacks a permission", titleEnd: saysDenied},
		{
			id: checkid.LaunchUnsupportedType, headline: "the instance type is not supported there",
			repair: otherZones,
		},
		{
			id: checkid.LaunchVolumeLimit, headline: "the limit for EBS volumes is reached", resource: ofAccount,
			repair: repairVolumeLimit,
		},
		{id: checkid.LaunchThrottled, headline: "the account's calls are throttled", resource: ofAccount},
		{
			id: checkid.LaunchAccountValidation, headline: "AWS has not validated the account",
			resource: ofAccount,
		},
		{
			id: checkid.LaunchServiceRole, headline: "a service-linked role is missing", resource: ofAccount,
			repair: repairServiceRole,
		},
		{
			id: checkid.LaunchUnclassified, headline: "unrecognized AWS error", titleEnd: saysUnclassified,
			repair: repairUnclassified,
		},
		// PolicyDenied: the message of a refused launch says which kind of policy denied
		// it, beside the launcher's own (IAM user guide, "Troubleshoot access denied error
		// messages").
		{
			id: checkid.LaunchPolicyDenied, headline: "a policy above the launching role's own denies it",
			titleEnd: func(f launchFault) string { return cmp.Or(saysStatement(f), whichPolicy(f)) },
		},
		{
			id: checkid.LaunchEncryptionControls, headline: "its types do not encrypt in transit",
			repair: repairEncryptionControls,
		},
		{
			id: checkid.LaunchImageNotAllowed, headline: "its AMI is not allowed here", titleEnd: saysImageNotAllowed,
			resource: (*check.Attempts).Image, inspect: allowedLook, repair: repairImageNotAllowed,
		},
		{
			id: checkid.LaunchIMDSEnforced, headline: "the account enforces IMDSv2",
			resource: resourceIMDSEnforced, inspect: metadataLook,
			uses:   []snapshot.Source{snapshot.LaunchTemplates, snapshot.MetadataDefaultsOf},
			repair: repairIMDSEnforced,
		},
	} {
		list = append(list, launchCheck(spec))
	}
	return list
}

func repairAMI(a *check.Attempts, f launchFault) check.Fix {
	id := a.Image(f.list[0])
	if id == "" {
		return showTemplate(a, f)
	}
	return check.Fix{
		Command: AWSCommand(a, "ec2", "describe-images", "--image-ids", id),
		Console: a.S.EC2Link("ImageDetails:imageId=" + id),
	}
}

func repairCapacityReservation(a *check.Attempts, _ launchFault) check.Fix {
	return check.Fix{Command: AWSCommand(a, "ec2", "describe-capacity-reservations", "--query",
		"CapacityReservations[].[CapacityReservationId,State,InstanceType,AvailabilityZone,AvailableInstanceCount,TotalInstanceCount,StartDate,EndDate]", "--output", "table")}
}

// reservationLook is how the capacity reservation stands that the group's launch
// template names: EC2's refusal does not tell one that is over from one that is full.
// Empty where the template names none, or it was not read.
func reservationLook(a *check.Attempts, f launchFault) (headline string, evidence []check.Evidence) {
	template, read := a.Template(f.groups()[0])
	if !read || template.Reservation == "" {
		return "", nil
	}
	what := "Capacity reservation " + template.Reservation
	if !a.S.Has(snapshot.CapacityReservations) {
		why := a.S.Why(snapshot.CapacityReservations)
		return "", []check.Evidence{{What: what, Value: fmt.Sprintf("not read: %s %s", why.Call, why.Reason)}}
	}
	i := slices.IndexFunc(a.S.CapacityReservations, func(r snapshot.CapacityReservation) bool { return r.ID == template.Reservation })
	if i < 0 {
		return "its capacity reservation does not exist", []check.Evidence{{What: what, Value: "is not among those that EC2 lists here"}}
	}
	r := a.S.CapacityReservations[i]
	value := fmt.Sprintf("%s; %d of %d free, of %s in %s", r.State, r.Free, r.Total, r.Type, r.Zone)
	if r.Block {
		value = "a capacity block, " + value
	}
	if !r.Start.IsZero() {
		value += ", from " + r.Start.UTC().Format(check.DayAndMinute)
	}
	if !r.End.IsZero() {
		value += ", until " + r.End.UTC().Format(check.DayAndMinute)
	}
	return "its capacity reservation " + reservationStands(r, template, zonesOf(a, f)), []check.Evidence{{What: what, Value: value}}
}

// reservationStands says why a reservation takes no launch (EC2 API, CapacityReservation,
// State; EC2 user guide, "Use a Capacity Reservation": type, zone and platform must
// match).
func reservationStands(r snapshot.CapacityReservation, t snapshot.LaunchTemplate, zones []string) string {
	switch r.State {
	case "expired", "cancelled", "failed", "payment-failed":
		return "is over"
	case "pending", "scheduled", "payment-pending", "assessing", "delayed":
		return "is not active yet"
	case "unsupported", "unavailable":
		return "is " + r.State
	}
	switch {
	case t.Type != "" && r.Type != t.Type:
		return "is for " + r.Type + ", not " + t.Type
	case r.Zone != "" && len(zones) > 0 && !slices.Contains(zones, r.Zone):
		return "is in " + r.Zone + ", where the group has no subnet"
	case r.Free == 0:
		return fmt.Sprintf("is used up: all %d are taken", r.Total)
	}
	return "rejects it"
}

// zonesOf are the zones of a group's subnets, as far as all are known.
func zonesOf(a *check.Attempts, f launchFault) []string {
	var zones []string
	for _, id := range a.Groups[f.groups()[0]].Subnets {
		i := slices.IndexFunc(a.S.Subnets, func(n snapshot.Subnet) bool { return n.ID == id })
		if i < 0 {
			return nil
		}
		zones = append(zones, a.S.Subnets[i].Zone)
	}
	return zones
}

// What is said of launches that were refused for want of permission: which policy,
// which statement of it, which tag.

// denials are what the messages of a fault tell, each once.
func (f launchFault) denials() []check.Denied {
	var list []check.Denied
	for _, t := range f.list {
		if t.Denied != nil && !slices.ContainsFunc(list, func(d check.Denied) bool { return sameDenial(d, *t.Denied) }) {
			list = append(list, *t.Denied)
		}
	}
	return list
}

// sameDenial leaves out who asked and on what: they differ from call to call.
func sameDenial(x, y check.Denied) bool {
	return x.Action == y.Action && x.Explicit == y.Explicit && x.Kind == y.Kind && x.Policy == y.Policy && x.Undecoded == y.Undecoded &&
		slices.EqualFunc(x.Statements, y.Statements, func(a, b snapshot.DeniedStatement) bool {
			return a.ID == b.ID && slices.EqualFunc(a.Conditions, b.Conditions, func(c, d snapshot.DeniedCondition) bool {
				return c.Key == d.Key && slices.Equal(c.Names, d.Names) && slices.Equal(c.Has, d.Has)
			})
		})
}

// deniedEvidence is which policy denied what, and why as far as its message tells.
func (f launchFault) deniedEvidence() []check.Evidence {
	const most = 3
	var list []check.Evidence
	for i, d := range f.denials() {
		if i == most {
			break
		}
		if d.Action != "" {
			what := d.Action
			if d.Resource != "" {
				what += " on " + d.Resource
			}
			if d.Who != "" {
				what += ", requested by " + d.Who
			}
			list = append(list, check.Evidence{What: "Denied", Value: what})
		}
		if by := deniedBy(d.Denial); by != "" {
			list = append(list, check.Evidence{What: "By", Value: by})
		}
		for _, s := range d.Statements {
			list = append(list, check.Evidence{What: "Statement " + cmp.Or(s.ID, "without a Sid"), Value: conditions(s)})
		}
		if d.Undecoded != "" {
			list = append(list, check.Evidence{What: "Encoded message", Value: "not decoded: " + d.Undecoded})
		}
	}
	return list
}

// deniedBy is the kind of the policy, and whether it denies or only does not allow.
func deniedBy(d snapshot.Denial) string {
	kind := cmp.Or(d.Kind, "policy")
	switch {
	case d.Explicit && d.Policy != "":
		return fmt.Sprintf("an explicit deny in %s, %s", check.Article(kind), d.Policy)
	case d.Explicit && d.Kind == "":
		return "an explicit deny; the message does not name the kind of policy"
	case d.Explicit:
		return "an explicit deny in " + check.Article(kind)
	case d.Kind != "", len(d.Statements) > 0:
		return fmt.Sprintf("no %s allows it", kind)
	}
	return ""
}

// conditions are the keys of a statement that denied a request: what it names, and
// what the request had. By which operator they are compared AWS does not tell.
func conditions(s snapshot.DeniedStatement) string {
	var parts []string
	for _, c := range s.Conditions {
		has := "the request has none"
		if len(c.Has) > 0 {
			has = "the request has " + check.And(c.Has)
		}
		if len(c.Names) == 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", c.Key, has))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s names %s, %s", c.Key, check.And(c.Names), has))
	}
	if len(parts) == 0 {
		return "denies it without a condition"
	}
	return strings.Join(parts, "; ")
}

// saysStatement ends the title with the statement that denied the launches, where
// all messages tell the same one.
func saysStatement(f launchFault) string {
	if list := f.denials(); len(list) == 1 && len(list[0].Statements) > 0 && list[0].Statements[0].ID != "" {
		return "denied by statement " + list[0].Statements[0].ID
	}
	return ""
}

// saysDenied ends it with the policy, where no statement is known.
func saysDenied(f launchFault) string {
	list := f.denials()
	switch {
	case saysStatement(f) != "":
		return saysStatement(f)
	case len(list) == 1 && list[0].Explicit && list[0].Kind != "":
		return "denied by " + check.Article(list[0].Kind)
	}
	return ""
}

// missing are the tags that the launches did not have and a statement asks for.
func (f launchFault) missing() (tags []string) {
	for _, d := range f.denials() {
		tags = append(tags, denial.MissingTags(d.Denial)...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// missingTags says where to set these tags; empty where none is missing.
func (f launchFault) missingTags() string {
	tags := f.missing()
	if len(tags) == 0 {
		return ""
	}
	where := "in the launch template's tag specifications, for instances and volumes"
	if f.refused() != nil {
		where = "in spec.tags of the NodePool's class (on EKS Auto Mode the cluster's role must be allowed to set it)"
	}
	return fmt.Sprintf("Add the %s %s, which the statement requires: %s. Or change the statement.", check.Plural(len(tags), "tag", "tags"), check.And(tags), where)
}

// tagClass is the command that sets missing tags in the class of the one NodePool that was
// refused; empty where that is not what is missing, or which class it is is not known.
func (f launchFault) tagClass(a *check.Attempts) string {
	tags, pools := f.missing(), f.groups()
	if len(tags) == 0 || len(pools) != 1 || f.refused() == nil {
		return ""
	}
	i := slices.IndexFunc(a.S.NodePools, func(p snapshot.NodePool) bool { return check.PoolKey(p.Name) == pools[0] })
	if i < 0 || a.S.NodePools[i].Class.Name == "" {
		return ""
	}
	values := map[string]string{}
	for _, tag := range tags {
		values[tag] = shell.Placeholder("value of " + tag)
	}
	var patch strings.Builder
	plain := json.NewEncoder(&patch)
	plain.SetEscapeHTML(false) // a person fills in what stands in brackets
	if err := plain.Encode(map[string]any{"spec": map[string]any{"tags": values}}); err != nil {
		return "" // a map of texts: it cannot happen
	}
	class := a.S.NodePools[i].Class
	return shell.Command("kubectl", "patch", check.ClassKind(class), class.Name, "--type", "merge", "-p", strings.TrimSpace(patch.String()))
}

func repairEncryptionControls(a *check.Attempts, f launchFault) check.Fix {
	return check.Fix{Command: AWSCommand(a, "ec2", "describe-instance-types", "--filters", "Name=network-info.encryption-in-transit-supported,Values=true", "--query", "InstanceTypes[].InstanceType", "--output", "text")}
}

// AWSCommand is an AWS CLI command in the snapshot's region.
func AWSCommand(a *check.Attempts, service, operation string, args ...string) string {
	return a.S.AWSCommand(service+" "+operation, args)
}

// showActivities shows what the group says of its launches, or the instance
// where there is no group.
func showActivities(a *check.Attempts, f launchFault) string {
	name := f.groups()[0]
	if _, is := a.Groups[name]; !is {
		if ids := f.each(func(t check.Attempt) string { return t.Instance }); len(ids) > 0 {
			return AWSCommand(a, "ec2", "describe-instances", "--instance-ids", ids[0])
		}
		if r := f.refused(); r != nil {
			return showCalls(a, *r)
		}
	}
	return AWSCommand(a, "autoscaling", "describe-scaling-activities", "--auto-scaling-group-name", name, "--max-items", "5")
}

// groupLink leads to the group's activities.
func groupLink(a *check.Attempts, f launchFault) string {
	name := f.groups()[0]
	if _, is := a.Groups[name]; !is {
		if ids := f.each(func(t check.Attempt) string { return t.Instance }); len(ids) > 0 {
			return a.S.EC2Link("InstanceDetails:instanceId=" + ids[0])
		}
		if f.refused() != nil {
			return a.S.ClusterLink()
		}
	}
	return a.S.AutoScalingGroupLink(name)
}

// quota is the quota that counts what a group launches, if it is one only.
func quota(a *check.Attempts, t check.Attempt, spot bool) (activity.Quota, bool) {
	var found activity.Quota
	for _, name := range a.Types(t) {
		q, ok := activity.QuotaOf(name, spot)
		if !ok || found.Code != "" && found != q {
			return activity.Quota{}, false
		}
		found = q
	}
	return found, found.Code != ""
}

// quotaCode is the code of that quota: one quota that is used up is one
// finding, however many groups it stops.
func quotaCode(spot bool) func(*check.Attempts, check.Attempt) string {
	return func(a *check.Attempts, t check.Attempt) string {
		q, _ := quota(a, t, spot)
		return q.Code
	}
}

// raiseQuota is the fix for a quota of vCPUs.
func raiseQuota(spot bool) func(*check.Attempts, launchFault) check.Fix {
	return func(a *check.Attempts, f launchFault) check.Fix {
		q, ok := quota(a, f.list[0], spot)
		kind := "Running On-Demand"
		if spot {
			kind = "Spot Instance Requests"
		}
		if !ok {
			return check.Fix{
				Text:    fmt.Sprintf("Request a higher quota of the family (the command lists those with %q in their names), or allow types of another family.", kind),
				Command: AWSCommand(a, "service-quotas", "list-service-quotas", "--service-code", "ec2", "--query", fmt.Sprintf("Quotas[?contains(QuotaName,`%s`)].[QuotaCode,QuotaName,Value]", kind), "--output", "table"),
				Console: fmt.Sprintf("%s/servicequotas/home/services/ec2/quotas?region=%s", a.S.ConsoleHost(), a.S.Region),
			}
		}
		text := fmt.Sprintf("Request a higher quota %s (%s), which counts vCPUs; or stop what is not needed, or allow types of another family.", q.Code, q.Name)
		if limit := f.list[0].Verdict.Named.Limit; limit != "" {
			text = fmt.Sprintf("Request more than the %s that quota %s allows (%s, counted in vCPUs); or stop what is not needed, or allow types of another family.", limit, q.Code, q.Name)
		}
		return check.Fix{
			Text:    text,
			Command: AWSCommand(a, "service-quotas", "get-service-quota", "--service-code", "ec2", "--quota-code", q.Code),
			Console: fmt.Sprintf("%s/servicequotas/home/services/ec2/quotas/%s?region=%s", a.S.ConsoleHost(), q.Code, a.S.Region),
		}
	}
}

// ofAccount is the resource of a failure that only the account can cure.
func ofAccount(a *check.Attempts, _ check.Attempt) string { return a.S.Account }

// launcher is the role that launches for a group, or that called.
func launcher(a *check.Attempts, f launchFault) string {
	if r := f.refused(); r != nil && r.By != "" {
		return r.By
	}
	g, is := a.Groups[f.groups()[0]]
	if !is {
		return "the role that launches the instances"
	}
	partition := cmp.Or(a.S.Partition, "aws")
	return cmp.Or(g.ServiceRole, fmt.Sprintf("arn:%s:iam::%s:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", partition, a.S.Account))
}

func saysImageNotAllowed(f launchFault) string {
	if _, types, ok := strings.Cut(f.list[0].Verdict.Meaning, " do not allow the type "); ok {
		return "its AMI is not for " + types
	}
	return ""
}

func repairImageNotAllowed(a *check.Attempts, f launchFault) check.Fix {
	if strings.HasPrefix(f.list[0].Verdict.Meaning, "the rules of ") {
		return check.Fix{
			Text:    "Launch a type that the AMI's rules allow, or another AMI.",
			Command: AWSCommand(a, "ec2", "describe-images", "--image-ids", a.Image(f.list[0]), "--query", "Images[].InstanceTypeSpecification"),
		}
	}
	return check.Fix{Command: AWSCommand(a, "ec2", "get-allowed-images-settings")}
}

// allowedLook is how the account's Allowed AMIs stand and whether EC2 lists the image of
// launches that it refused as not existing.
func allowedLook(a *check.Attempts, f launchFault) (headline string, evidence []check.Evidence) {
	const what = "Allowed AMIs"
	s, ami := a.S.AllowedImages, a.Image(f.list[0])
	switch {
	case !slices.ContainsFunc(f.list, func(t check.Attempt) bool { return check.NotFound(t.Verdict) }):
		return "", nil
	case s != nil:
		value := s.State + ", managed by " + s.ManagedBy
		if len(s.Providers) > 0 {
			value += ", providers " + strings.Join(s.Providers, ", ")
		}
		evidence = append(evidence, check.Evidence{What: what, Value: value})
	case !a.S.Has(snapshot.AllowedImagesOf):
		evidence = append(evidence, notChecked(a, what, snapshot.AllowedImagesOf))
	}
	if i := slices.IndexFunc(a.S.Images, func(i snapshot.Image) bool { return i.ID == ami }); i >= 0 && a.S.Images[i].Allowed != "" {
		evidence = append(evidence, check.Evidence{What: ami, Value: fmt.Sprintf("%s, owner %s, ImageAllowed %s", a.S.Images[i].Name, a.S.Images[i].Owner, a.S.Images[i].Allowed)})
	}
	return "", evidence
}

func resourceIMDSEnforced(a *check.Attempts, t check.Attempt) string {
	template, _ := a.Template(t.Group)
	return template.ID
}

func repairIMDSEnforced(a *check.Attempts, f launchFault) check.Fix {
	template, _ := a.Template(f.list[0].Group)
	if template.ID == "" {
		return check.Fix{Command: AWSCommand(a, "ec2", "get-instance-metadata-defaults")}
	}
	return check.Fix{Command: AWSCommand(a, "ec2", "create-launch-template-version", "--launch-template-id", template.ID,
		"--source-version", cmp.Or(template.Version, "$Latest"), "--launch-template-data", `{"MetadataOptions":{"HttpTokens":"required","HttpPutResponseHopLimit":2}}`)}
}

// metadataLook is what the launch template and the account say of HttpTokens.
func metadataLook(a *check.Attempts, f launchFault) (headline string, evidence []check.Evidence) {
	if template, read := a.Template(f.groups()[0]); read {
		evidence = append(evidence, check.Evidence{What: "HttpTokens of " + template.ID + " version " + template.Version, Value: cmp.Or(template.Metadata.Tokens, "not set")})
	}
	d := a.S.MetadataDefaults
	switch {
	case d != nil:
		value := fmt.Sprintf("HttpTokens %s, enforced %v, managed by %s", cmp.Or(d.Tokens, "not set"), d.Enforced, cmp.Or(d.ManagedBy, "account"))
		if d.Message != "" {
			value += ": " + d.Message
		}
		evidence = append(evidence, check.Evidence{What: "Instance metadata defaults", Value: value})
	case !a.S.Has(snapshot.MetadataDefaultsOf):
		evidence = append(evidence, notChecked(a, "Instance metadata defaults", snapshot.MetadataDefaultsOf))
	}
	return "", evidence
}

// notChecked is the evidence that a source was not read, with its permission.
func notChecked(a *check.Attempts, what string, source snapshot.Source) check.Evidence {
	why := a.S.Why(source)
	return check.Evidence{What: what, Value: fmt.Sprintf("not checked: %s %s", why.Call, why.Reason)}
}

// otherZones shows which zones offer the type at all.
func otherZones(a *check.Attempts, f launchFault) check.Fix {
	types := a.Types(f.list[0])
	if len(types) == 0 {
		return check.Fix{}
	}
	return check.Fix{Command: AWSCommand(a, "ec2", "describe-instance-type-offerings", "--location-type", "availability-zone",
		"--filters", "Name=instance-type,Values="+strings.Join(types, ","), "--query", "InstanceTypeOfferings[].[InstanceType,Location]", "--output", "table")}
}

// kmsKey is the key, if it is known: the text names it, or the launch template
// names one only. Else it may be the account's default key.
func kmsKey(a *check.Attempts, t check.Attempt) string {
	if t.Verdict.Named.Key != "" {
		return t.Verdict.Named.Key
	}
	if template, read := a.Template(t.Group); read && len(template.KMSKeys) == 1 {
		return template.KMSKeys[0]
	}
	return ""
}

func useKey(a *check.Attempts, f launchFault) check.Fix {
	role := launcher(a, f)
	const may = "kms:CreateGrant (for AWS resources), Decrypt, DescribeKey, Encrypt, GenerateDataKey* and ReEncrypt*"
	key := kmsKey(a, f.list[0])
	if key == "" {
		return check.Fix{
			Text:    fmt.Sprintf("Find the key of the volumes (launch template, AMI, or the account's default, which the command shows). Enable it, and allow %s to use it in the key's policy: %s.", role, may),
			Command: AWSCommand(a, "ec2", "get-ebs-default-kms-key-id"),
		}
	}
	id := key[strings.LastIndex(key, "/")+1:]
	return check.Fix{
		Text:    fmt.Sprintf("Enable %s if it is not (the command shows its state), and allow %s to use it in the key's policy: %s.", key, role, may),
		Command: AWSCommand(a, "kms", "describe-key", "--key-id", key, "--query", "KeyMetadata.[KeyState,Enabled,KeyManager]"),
		Console: fmt.Sprintf("%s/kms/home?region=%s#/kms/keys/%s", a.S.ConsoleHost(), a.S.Region, id),
	}
}

func repairPlacement(a *check.Attempts, _ launchFault) check.Fix {
	return check.Fix{Command: AWSCommand(a, "ec2", "describe-placement-groups", "--query", "PlacementGroups[].[GroupName,State,Strategy,SpreadLevel,PartitionCount]", "--output", "table")}
}

// mostSpread is how many instances a rack spread placement group has in a zone (EC2 user
// guide, "Placement group rules and limitations").
const mostSpread = 7

// placementLook is how the placement group stands that the Auto Scaling group or its
// launch template names: EC2's refusal does not say of what strategy it is. Empty where
// none is named.
func placementLook(a *check.Attempts, f launchFault) (headline string, evidence []check.Evidence) {
	group := a.Groups[f.groups()[0]]
	template, _ := a.Template(group.Name)
	if template.Tenancy != "" || template.Host != "" {
		evidence = append(evidence, check.Evidence{What: "Tenancy of the launch template", Value: strings.TrimSpace(template.Tenancy + " " + template.Host)})
	}
	name := cmp.Or(group.PlacementGroup, template.PlacementGroup)
	if name == "" {
		return "", evidence
	}
	what := "Placement group " + name
	if !a.S.Has(snapshot.PlacementGroups) {
		why := a.S.Why(snapshot.PlacementGroups)
		return "", append(evidence, check.Evidence{What: what, Value: strings.TrimSpace(fmt.Sprintf("not read: %s %s", why.Call, why.Reason))})
	}
	i := slices.IndexFunc(a.S.PlacementGroups, func(p snapshot.PlacementGroup) bool { return p.Name == name || p.ID == name })
	if i < 0 {
		return "its placement group does not exist", append(evidence, check.Evidence{What: what, Value: "is not among those that EC2 lists here"})
	}
	p := a.S.PlacementGroups[i]
	value, in := p.Strategy+", "+p.State, inPlacement(a, p)
	if p.Partitions > 0 {
		value += fmt.Sprintf(", %d partitions", p.Partitions)
	}
	var parts []string
	for _, zone := range slices.Sorted(maps.Keys(in)) {
		parts = append(parts, fmt.Sprintf("%d in %s", in[zone], zone))
	}
	if len(parts) > 0 {
		value += "; instances of this cluster: " + check.And(parts)
	}
	return placementStands(p, in, zonesOf(a, f), f.each(func(t check.Attempt) string { return unsupportedType(t) })), append(evidence, check.Evidence{What: what, Value: value})
}

// inPlacement counts the instances of a placement group by zone, as far as they were read.
func inPlacement(a *check.Attempts, p snapshot.PlacementGroup) map[string]int {
	in := map[string]int{}
	for _, i := range a.S.Instances {
		if i.PlacementGroup == p.Name && p.Name != "" && !i.Ended() {
			in[i.Zone]++
		}
	}
	return in
}

// unsupportedType is the type that a text says the strategy does not support.
func unsupportedType(t check.Attempt) string {
	if strings.Contains(t.Verdict.Text, "not supported by the") || strings.Contains(t.Verdict.Text, "may not be used with instances") {
		return t.Verdict.Named.Type
	}
	return ""
}

// placementStands says why a placement group takes no launch; empty where that is not
// known.
func placementStands(p snapshot.PlacementGroup, in map[string]int, zones, types []string) string {
	of := "its " + p.Strategy + " placement group"
	switch {
	case p.State != "available" && p.State != "":
		return "its placement group is " + p.State
	case len(types) > 0:
		return of + " rejects " + check.Some(types, 3)
	case p.Strategy == "spread" && p.Level != "host":
		for _, zone := range slices.Sorted(maps.Keys(in)) {
			if in[zone] >= mostSpread {
				return fmt.Sprintf("%s has its %d instances in %s", of, mostSpread, zone)
			}
		}
	case p.Strategy == "cluster" && len(in) == 1:
		for zone := range in {
			if !slices.Contains(zones, zone) || len(zones) > 1 {
				return of + " is in " + zone
			}
		}
	}
	return ""
}

// whichPolicy is what all the texts say, if they say the same.
func whichPolicy(f launchFault) string {
	first := f.list[0].Verdict.Meaning
	if slices.ContainsFunc(f.list, func(t check.Attempt) bool { return t.Verdict.Meaning != first }) {
		return ""
	}
	return first
}

func repairProfile(a *check.Attempts, f launchFault) check.Fix {
	name := f.list[0].Verdict.Named.Profile
	if name == "" {
		return showTemplate(a, f)
	}
	return check.Fix{Command: AWSCommand(a, "iam", "get-instance-profile", "--instance-profile-name", name)}
}

// What is said of launches without an Auto Scaling group: those of Karpenter, of
// EKS Auto Mode, and of whoever else calls EC2.

// refused is the first run of refused calls, if there is one.
func (f launchFault) refused() *snapshot.RefusedLaunch {
	i := slices.IndexFunc(f.list, func(t check.Attempt) bool { return t.Refused != nil })
	if i < 0 {
		return nil
	}
	return f.list[i].Refused
}

// since is when the first of the refused calls was made; zero where there is none.
func (f launchFault) since() (first time.Time) {
	for _, t := range f.list {
		if t.Refused != nil && (first.IsZero() || t.Refused.First.Before(first)) {
			first = t.Refused.First
		}
	}
	return first
}

// launcherName is what people call who launches: a NodePool as such.
func launcherName(unit string) string {
	if name, ok := strings.CutPrefix(unit, snapshot.PoolKey("")); ok {
		return "NodePool " + name
	}
	if name, ok := strings.CutPrefix(unit, snapshot.RoleKey("")); ok {
		return "role " + name
	}
	return unit
}

// refusedCalls says since when, by whom and for how much. It is not said when the
// last one was: that would be new with each look.
func refusedCalls(r snapshot.RefusedLaunch) []check.Evidence {
	value := fmt.Sprintf("%s, refused since %s", r.Call, check.ClockTime(r.First))
	if r.Asked > 0 {
		value += fmt.Sprintf(", the first for %d %s", r.Asked, check.Plural(r.Asked, "instance", "instances"))
	}
	list := []check.Evidence{{What: "Calls", Value: value}}
	if r.By != "" {
		list = append(list, check.Evidence{What: "Called by", Value: r.By})
	}
	if r.Offers > 1 {
		value := fmt.Sprintf("%d types and subnets got this error", r.Offers)
		if len(r.Types) > 0 {
			value += ": " + check.Some(r.Types, 5)
		}
		if len(r.Zones) > 0 {
			value += " in " + check.Some(r.Zones, 3)
		}
		list = append(list, check.Evidence{What: "Offers", Value: value})
	}
	if len(r.Other) > 0 {
		list = append(list, check.Evidence{What: "The others got", Value: check.And(r.Other)})
	}
	return list
}

// showCalls shows the calls as CloudTrail has them, with the message that can be
// decoded.
func showCalls(a *check.Attempts, r snapshot.RefusedLaunch) string {
	return AWSCommand(a, "cloudtrail", "lookup-events", "--lookup-attributes", "AttributeKey=EventName,AttributeValue="+r.Call,
		"--max-results", "5", "--query", "Events[].CloudTrailEvent", "--output", "text")
}

// meaning and next are the class's, but for what they say of groups.
func meaning(t check.Attempt) string {
	if t.Refused == nil {
		return t.Verdict.Meaning
	}
	return strings.ReplaceAll(t.Verdict.Meaning, "the launch template", "its launch template or class")
}

func next(t check.Attempt) string {
	if t.Refused == nil {
		return t.Verdict.Next
	}
	switch t.Verdict.Class {
	case checkid.LaunchInsufficientCapacity:
		return "Allow more instance types, zones or capacity types to " + launcherName(t.Group) + ", or wait: the launch is retried."
	case checkid.LaunchSubnetFull:
		return "Free addresses in the subnets (leaked network interfaces, unused load balancers), or select others in the class."
	case checkid.LaunchUnsupportedType:
		return "Remove the types from " + launcherName(t.Group) + " that its zones do not offer, or the zones."
	case checkid.LaunchThrottled:
		return "Find the caller (CloudTrail, CloudWatch usage metrics). The launch is retried."
	case checkid.LaunchTemplate, checkid.LaunchAMI, checkid.LaunchSecurityGroup, checkid.LaunchProfile:
		return "Correct what the class of " + launcherName(t.Group) + " selects, or the launch template that the call names: the message has the reason."
	}
	return t.Verdict.Next
}
