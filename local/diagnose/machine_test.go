package diagnose

import (
	"encoding/base64"
	"strings"
	"testing"
)

const (
	roleFile    = "iam-get-role.new_nodegroup_2"
	profileFile = "iam-get-instance-profile." + profile
	entryFile   = "eks-describe-access-entry.eks-workshop.new_nodegroup_2"
	attached    = "iam-list-attached-role-policies.new_nodegroup_2"
	configMap   = "kubectl-get-configmap-aws-auth.eks-workshop"
	images      = "ec2-describe-images"
	statuses    = "ec2-describe-instance-status"
)

// userData is what describe-instance-attribute prints of the instance.
func userData(text string) change {
	data := base64.StdEncoding.EncodeToString([]byte(text))
	return func(t *testing.T, dir string) {
		with("ec2-describe-instance-attribute."+young+".userData.json", `{"InstanceId": "`+young+`", "UserData": {"Value": "`+data+`"}}`)(t, dir)
		set(templates, "LaunchTemplateVersions.LaunchTemplateId="+lt+".LaunchTemplateData.UserData", `"`+data+`"`)(t, dir)
	}
}

// inUserData changes a text in the user data that the fixture has.
func inUserData(old, new string) change {
	return func(t *testing.T, dir string) {
		var text string
		edited(templates, func(v any) {
			for _, x := range at(v, "LaunchTemplateVersions").([]any) {
				if at(x, "LaunchTemplateId") == lt {
					raw, err := base64.StdEncoding.DecodeString(at(x, "LaunchTemplateData", "UserData").(string))
					if err != nil {
						t.Fatal(err)
					}
					text = string(raw)
				}
			}
		})(t, dir)
		if !strings.Contains(text, old) {
			t.Fatalf("user data %q does not hold %q", text, old)
		}
		userData(strings.ReplaceAll(text, old, new))(t, dir)
	}
}

// mapped is a cluster that knows its nodes by aws-auth alone.
func mapped(roles string) change {
	return func(t *testing.T, dir string) {
		set(described, "cluster.accessConfig.authenticationMode", `"CONFIG_MAP"`)(t, dir)
		text := strings.ReplaceAll(strings.ReplaceAll(roles, "\n", `\n`), "\"", `\"`)
		set(configMap, "data.mapRoles", `"`+text+`"`)(t, dir)
		for _, f := range []string{"eks-list-access-entries.eks-workshop", entryFile, "eks-describe-access-entry.eks-workshop.eksctl-eks-workshop-NodeInstanceRole"} {
			without(f+".json")(t, dir)
		}
		refused("eks-list-access-entries.eks-workshop InvalidRequestException")(t, dir)
	}
}

func mapping(arn, user string) string {
	return "- rolearn: " + arn + "\n  username: " + user + "\n  groups:\n  - system:bootstrappers\n  - system:nodes\n"
}

const nodeUser = "system:node:{{EC2PrivateDNSName}}"

// TestEveryMachineCheck breaks roles, access and instances.
func TestEveryMachineCheck(t *testing.T) {
	other := "arn:aws:iam::111122223333:role/eksctl-eks-workshop-NodeInstanceRole"
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"no profile":             {one("iam/profile-missing", young), []change{set(instances, it+".IamInstanceProfile", "")}},
		"profile without role":   {one("iam/profile-missing"), []change{set(profileFile, "InstanceProfile.Roles", `[]`)}},
		"profile deleted":        {one("iam/profile-missing"), []change{refused(profileFile + " NoSuchEntity")}},
		"role deleted":           {one("iam/profile-missing", role), []change{refused(roleFile+" NoSuchEntity", attached+" NoSuchEntity", "iam-list-role-policies.new_nodegroup_2 NoSuchEntity")}},
		"no worker policy":       {likely("iam/role-policies", role), []change{cut(attached, "AttachedPolicies", "ContainerRegistry")}},
		"trust":                  {one("iam/role-trust", role), []change{set(roleFile, "Role.AssumeRolePolicyDocument.Statement.0.Principal.Service", `"eks.amazonaws.com"`)}},
		"trust in URL encoding":  {one("iam/role-trust", role), []change{set(roleFile, "Role.AssumeRolePolicyDocument", `"%7B%22Statement%22%3A%5B%7B%22Action%22%3A%22sts%3AAssumeRole%22%2C%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%7B%22Service%22%3A%22lambda.amazonaws.com%22%7D%7D%5D%7D"`)}},
		"no entry":               {one("iam/access-missing", role), []change{set(described, "cluster.accessConfig.authenticationMode", `"API"`), cutName("eks-list-access-entries.eks-workshop", "accessEntries", "new_nodegroup_2"), without(entryFile + ".json")}},
		"entry refused as gone":  {one("iam/access-missing", role), []change{set(described, "cluster.accessConfig.authenticationMode", `"API"`), cutName("eks-list-access-entries.eks-workshop", "accessEntries", "new_nodegroup_2"), refused(entryFile + " ResourceNotFoundException")}},
		"entry of another type":  {one("iam/access-wrong-type", role), []change{set(entryFile, "accessEntry.type", `"STANDARD"`), set(entryFile, "accessEntry.kubernetesGroups", `[]`), set(entryFile, "accessEntry.username", `"arn:aws:sts::111122223333:assumed-role/new_nodegroup_2/{{SessionName}}"`)}},
		"not in aws-auth":        {one("iam/access-missing", role), []change{mapped(mapping(other, nodeUser))}},
		"no aws-auth at all":     {one("iam/access-missing", role), []change{mapped(""), refusedToo(configMap + " NotFound")}},
		"in aws-auth":            {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{mapped(mapping(other, nodeUser) + mapping(role, nodeUser))}},
		"the profile's ARN":      {one("iam/access-wrong-arn"), []change{mapped(mapping(other, nodeUser) + mapping("arn:aws:iam::111122223333:instance-profile/"+profile, nodeUser))}},
		"aws-auth broken":        {one("iam/aws-auth-invalid"), []change{mapped("- rolearn: [" + role + "\n  username: x\n groups: -")}},
		"aws-auth twice":         {likely("iam/access-duplicate-mapping", role), []change{mapped(mapping(role, "admin") + mapping(role, nodeUser))}},
		"no CNI policy":          {likely("iam/role-policies", role), []change{cut(attached, "AttachedPolicies", "CNI"), cniFails}},
		"STS off":                {one("iam/sts-region-deactivated"), []change{wrote("[    0.0] Linux version 6\n[   11.0] cloud-init[1]: nodeadm: operation error STS: GetCallerIdentity, https response error StatusCode: 403, api error RegionDisabledException: STS is not activated in this region for account:111122223333. Your account administrator can activate STS in this region using the IAM Console.\n")}},
		"wrong cluster":          {one("instance/user-data", lt), []change{inUserData("name: eks-workshop", "name: eks-wrkshop")}},
		"wrong endpoint":         {one("instance/user-data", lt), []change{inUserData("0123456789ABCDEF0123456789ABCDEF", "D5E11EBFCBD8AF710C5793CEC35243E1")}},
		"a forbidden label":      {one("instance/forbidden-node-label"), []change{set(groupFile, "nodegroup.labels", `{"node-role.kubernetes.io/worker": "true"}`)}},
		"metadata off":           {one("instance/imds", young), []change{set(instances, it+".MetadataOptions.HttpEndpoint", `"disabled"`)}},
		"no cluster tag":         {likely("instance/cluster-tag", young), []change{selfManaged()}},
		"no cluster tag, by ASG": {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{selfManagedWith(`{"Key": "kubernetes.io/cluster/eks-workshop", "Value": "owned"}`)}},
		"AMI of another version": {one("instance/version-skew", cluster), []change{set(images, "Images.0.Name", `"amazon-eks-node-al2023-x86_64-standard-1.36-v20261112"`), set(groupFile, "nodegroup.amiType", `"CUSTOM"`)}},
		"AMI for ARM":            {likely("instance/ami", image), []change{set(images, "Images.0.Architecture", `"arm64"`)}},
		"status impaired":        {likely("instance/status-check", young), []change{set(statuses, "InstanceStatuses.InstanceId="+young+".InstanceStatus.Status", `"impaired"`)}},
		"retirement":             {likely("instance/scheduled-event", young), []change{set(statuses, "InstanceStatuses.InstanceId="+young+".Events", `[{"InstanceEventId": "instance-event-0d59937288b749b32", "Code": "instance-retirement", "Description": "The instance is running on degraded hardware", "NotBefore": "2026-11-20T16:00:00.000Z"}]`)}},
		"console: unauthorized":  {one("instance/console-error", "new_nodegroup_2"), []change{wrote("[    0.0] Linux version 6\n" + strings.Repeat("[   20.1] kubelet[1800]: E1120 15:00:01.123456    1800 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" node=\"ip-10-42-192-4.us-west-2.compute.internal\"\n", 20))}},
		"console in base64":      {one("instance/console-error", "new_nodegroup_2"), []change{wrote(base64.StdEncoding.EncodeToString([]byte("[    0.0] Linux version 6\n" + strings.Repeat("[   20.1] kubelet[1800]: E1120 15:00:01.123456    1800 kubelet_node_status.go:96] \"Unable to register node with API server\" err=\"Unauthorized\" node=\"ip-10-42-192-4\"\n", 20))))}},
		"older than the cluster": {likely("instance/older-than-cluster"), []change{selfManagedWith(`{"Key": "kubernetes.io/cluster/eks-workshop", "Value": "owned"}`), set(described, "cluster.createdAt", `"2026-11-20T15:01:00.000Z"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, append([]change{noNode()}, tt.changes...)...)
		})
	}
}

// cutName takes names out of a list of texts.
func cutName(file, list, text string) change { return cut(file, list, text) }

// refusedToo adds to the calls that are refused.
func refusedToo(call string) change {
	return func(t *testing.T, dir string) {
		file, code, _ := strings.Cut(call, " ")
		without(file+".json")(t, dir)
		edited("errors", func(v any) { v.(map[string]any)[file] = map[string]any{"code": code, "message": "not found"} })(t, dir)
	}
}

// cniFails is a node whose network plugin gets no addresses.
func cniFails(t *testing.T, dir string) { notReady("cni plugin not initialized")(t, dir) }

// selfManaged takes all tags of the instance that name its cluster, and its
// node group's.
func selfManaged() change { return selfManagedWith("") }

func selfManagedWith(tag string) change {
	return func(t *testing.T, dir string) {
		set(instances, it+".Tags", `[{"Key": "aws:autoscaling:groupName", "Value": "`+asg+`"}, {"Key": "aws:ec2launchtemplate:id", "Value": "`+lt+`"}, {"Key": "aws:ec2launchtemplate:version", "Value": "1"}]`)(t, dir)
		if tag != "" {
			set(instances, it+".Tags.+", tag)(t, dir)
		}
		set(groups, "AutoScalingGroups.AutoScalingGroupName="+asg+".Tags", `[]`)(t, dir)
		cut("eks-list-nodegroups.eks-workshop", "nodegroups", "new_nodegroup_2")(t, dir)
		without(groupFile+".json")(t, dir)
	}
}
