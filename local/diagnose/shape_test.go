package diagnose

import (
	"testing"
)

// TestShapes holds forms in which the CLI and kubectl print the same, and the
// rules for young instances, several faults and what hides what.
func TestShapes(t *testing.T) {
	symptom := said{1, []string{"node/not-registered symptom"}, nil, ""}
	const youngTime = "2026-11-20T15:08:00Z"
	all3 := edited(nodes, func(v any) { v.(map[string]any)["items"] = []any{} })
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"a list of its own kind":        {symptom, []change{noNode(), set(nodes, "kind", `"NodeList"`)}},
		"tokens that say nothing":       {symptom, []change{noNode(), set(subnets, "NextToken", "null"), set(tables, "NextToken", `""`)}},
		"no console output":             {said{2, []string{"node/not-registered symptom"}, nil, "instance/console-error"}, []change{noNode(), with("ec2-get-console-output."+young+".json", `{"InstanceId": "`+young+`", "Timestamp": "2026-11-20T15:04:00.000Z"}`)}},
		"no user data":                  {said{1, []string{"instance/user-data likely"}, nil, ""}, []change{noNode(), with("ec2-describe-instance-attribute."+young+".userData.json", `{"InstanceId": "`+young+`", "UserData": {}}`), set(templates, "LaunchTemplateVersions.LaunchTemplateId="+lt+".LaunchTemplateData.UserData", ""), set(groupFile, "nodegroup.amiType", `"CUSTOM"`), set(instances, it+".ImageId", `"ami-0custom"`), set(images, "Images.+", `{"ImageId": "ami-0custom", "Name": "ours", "OwnerId": "111122223333", "Architecture": "x86_64", "State": "available"}`)}},
		"young, nothing there yet":      {said{}, []change{noNode(), launched(youngTime), without("ec2-get-console-output."+young+".json", "kubectl-get-events.eks-workshop.json")}},
		"young, likely":                 {said{}, []change{noNode(), launched(youngTime), set("ec2-describe-dhcp-options", "DhcpOptions.0.DhcpConfigurations.0.Values.0.Value", `"a.very.long.domain.name.of.a.company.that.likes.to.be.exact.example.com"`)}},
		"young, profile deleted":        {one("iam/profile-missing"), []change{noNode(), launched(youngTime), refused(profileFile + " NoSuchEntity")}},
		"young and registered":          {said{}, []change{launched(youngTime), notReady("cni plugin not initialized")}},
		"Ready and impaired":            {said{}, []change{running("2026-11-20T15:09:05Z"), set(profileFile, "InstanceProfile.Roles", `[]`)}},
		"nobody joined, one way out":    {one("route/nat-unusable", nat), []change{all3, set(nats, "NatGateways.0.State", `"failed"`)}},
		"two faults of two node groups": {said{1, []string{"iam/role-trust certain", "route/no-egress certain"}, nil, ""}, []change{all3, noWayOut(), set("iam-get-role.eksctl-eks-workshop-NodeInstanceRole", "Role.AssumeRolePolicyDocument.Statement.0.Principal.Service", `"eks.amazonaws.com"`)}},
		"not ready":                     {said{1, []string{"node/cni-not-ready likely"}, nil, ""}, []change{notReady("x")}},
		"uninitialized":                 {said{1, []string{"node/uninitialized likely"}, nil, ""}, []change{set(nodes, "items.3.spec.taints", `[{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}]`)}},
		"aws-node crashes":              {said{1, []string{"node/cni-not-ready certain"}, nil, ""}, []change{notReady("cni plugin not initialized"), set("kubectl-get-pods.eks-workshop", "items.+", awsNode)}},
		"kubelet too new":               {said{1, []string{"instance/version-skew certain"}, nil, ""}, []change{notReady("x"), set(nodes, "items.3.status.nodeInfo.kubeletVersion", `"v1.36.0-eks-1234567"`)}},
		"an IAM path":                   {symptom, []change{noNode(), set(entryFile, "accessEntry.accessEntryArn", `"x"`)}},
		"planned, no time.txt":          {said{1, []string{"instance/scheduled-event likely"}, nil, ""}, []change{noNode(), without("time.txt"), set(nodes, "items.0.status.conditions.0.lastHeartbeatTime", `"2026-11-20T15:09:40Z"`), set(statuses, "InstanceStatuses.InstanceId="+young+".Events", `[{"Code": "instance-retirement", "Description": "x", "NotBefore": "2026-12-20T16:00:00.000Z"}]`)}},
		"event of a failed launch":      {one("launch/insufficient-capacity", asg, subnet), []change{noInstance, with("event.json", launchFailedNow())}},
		"event of a stranger":           {said{}, []change{with("event.json", `{"version": "0", "id": "1", "detail-type": "EC2 Instance State-change Notification", "source": "aws.ec2", "account": "111122223333", "time": "2026-11-20T15:09:00Z", "region": "us-west-2", "resources": [], "detail": {"instance-id": "i-0ddddddddddddddd1", "state": "running"}}`)}},
		"stopped by nobody":             {one("instance/ended-early", young), []change{noNode(), set(instances, it+".State", `{"Code": 80, "Name": "stopped"}`), set(instances, it+".StateReason", `{"Code": "Client.InstanceInitiatedShutdown", "Message": "Client.InstanceInitiatedShutdown: Instance initiated shutdown"}`), set(instances, it+".StateTransitionReason", `"User initiated (2026-11-20 15:00:00 GMT)"`)}},
		"shut down by itself":           {one("instance/ended-early", young), []change{noNode(), ended("2026-11-20 15:00:10 GMT", "Client.InstanceInitiatedShutdown", "Client.InstanceInitiatedShutdown: Instance initiated shutdown")}},
		"days old and no node":          {symptom, []change{noNode(), launched("2026-11-12T09:14:05.000Z")}},
		"retained for a person":         {said{}, []change{noNode(), lifecycleState("Terminating:Retained")}},
		"its root volume is replaced":   {said{}, []change{noNode(), lifecycleState("ReplacingRootVolume")}},
		"its end waits for a hook":      {symptom, []change{noNode(), lifecycleState("Terminating:Wait")}},
		"leaked nothing":                {said{}, []change{with("ec2-describe-network-interfaces.json", `{"NetworkInterfaces": []}`)}},
		"add-on by lack of nodes":       {one("route/nat-unusable", nat), []change{all3, set(nats, "NatGateways.0.State", `"failed"`), set("eks-describe-addon.eks-workshop.coredns", "addon.status", `"DEGRADED"`), set("eks-describe-addon.eks-workshop.coredns", "addon.health.issues", `[{"code": "InsufficientNumberOfReplicas", "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.", "resourceIds": []}]`)}},
		"no access entries at all":      {one("iam/access-missing", role), []change{noNode(), set(described, "cluster.accessConfig", ""), refused("eks-list-access-entries.eks-workshop InvalidRequestException"), refusedToo(entryFile + " ResourceNotFoundException")}},
		"a bastion with the tag":        {symptom, []change{noNode(), set(instances, it+".LaunchTime", `"2026-11-20T14:58:10.000Z"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}

// lifecycleState is how the group of the instance has it.
func lifecycleState(state string) change {
	return set(groups, everyGroup+".Instances.InstanceId="+young+".LifecycleState", `"`+state+`"`)
}

// awsNode is the network plugin's pod on the node, which fails again and again.
const awsNode = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "aws-node-x7x2k", "namespace": "kube-system", "labels": {"k8s-app": "aws-node"}, "creationTimestamp": "2026-11-20T14:59:00Z"},
"spec": {"nodeName": "ip-10-42-192-4.us-west-2.compute.internal", "containers": [{"name": "aws-node", "image": "x"}]},
"status": {"phase": "Running", "containerStatuses": [{"name": "aws-node", "ready": false, "restartCount": 7, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 2m40s restarting failed container"}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}}`
