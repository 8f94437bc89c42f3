package subnetwatch

import (
	"slices"
	"testing"

	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/functions/subnet-watch/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
)

// TestSubnetsOfNodePools: a subnet into which only a NodePool launches is watched as
// those of groups are: what it has is kept, and too little for what the pool's limit
// leaves is told.
func TestSubnetsOfNodePools(t *testing.T) {
	const own = "subnet-0f10000000000077a"
	b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{World: "healthy-nat.yaml", ClusterRole: true, Over: `
timeline: []
ec2:
  Subnets:
    - {SubnetId: ` + own + `, VpcId: vpc-0a1b2c3d4e5f60718, AvailabilityZone: us-west-2a, AvailabilityZoneId: usw2-az1, CidrBlock: 10.42.240.0/26, AvailableIpAddressCount: 30}
kubernetes:
  eks-workshop:
    NodePools:
      - metadata: {name: web, generation: 1}
        spec: {limits: {nodes: 5}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.extra-large]}]}}}
        status: {resources: {nodes: "1"}}
    EC2NodeClasses:
      - metadata: {name: web, generation: 1}
        status: {subnets: [{id: ` + own + `, zone: us-west-2a}], conditions: [{type: Ready, status: "True"}]}
    NodeClaims:
      - metadata: {name: web-x7k2p, labels: {karpenter.sh/nodepool: web, node.kubernetes.io/instance-type: m5.large}}
        status: {providerID: aws:///us-west-2a/i-0a700000000000001}
`})
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	o := b.Observation()
	var told []string
	for _, c := range o.Diagnosis.Causes {
		if c.Resource == own {
			told = append(told, string(c.Check)+" "+string(c.Confidence))
		}
	}
	if !slices.Equal(told, []string{"ip/scale-out-will-not-fit " + string(checks.Likely)}) {
		t.Errorf("of %s %q is told", own, told)
	}
	records, err := b.Stage.Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(records, func(item map[string]dynamotypes.AttributeValue) bool {
		pk, ok := item["pk"].(*dynamotypes.AttributeValueMemberS)
		return ok && pk.Value == "sample#"+own
	}) {
		t.Errorf("what %s has is not kept", own)
	}
}
