package eks

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/state"
)

// nodeConfig is the user data that EKS gives a managed AL2023 node, in the
// form that the API carries.
func nodeConfig(c *ekstypes.Cluster) string { return NodeConfig(c) }

// NodeConfig is the user data of an AL2023 node with flags of its kubelet, in the
// form that the API carries.
func NodeConfig(c *ekstypes.Cluster, flags ...string) string {
	ca, cidr := "", "172.20.0.0/16"
	if c.CertificateAuthority != nil {
		ca = aws.ToString(c.CertificateAuthority.Data)
	}
	if n := c.KubernetesNetworkConfig; n != nil && n.ServiceIpv4Cidr != nil {
		cidr = *n.ServiceIpv4Cidr
	}
	kubelet := ""
	if len(flags) > 0 {
		kubelet = "  kubelet:\n    flags:\n    - " + strings.Join(flags, "\n    - ") + "\n"
	}
	text := fmt.Sprintf(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

---
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: %s
    apiServerEndpoint: %s
    certificateAuthority: %s
    cidr: %s
%s
--//--
`, aws.ToString(c.Name), aws.ToString(c.Endpoint), ca, cidr, kubelet)
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// Serve tells the world where a cluster's API is served: nodes are started
// with that endpoint and authority, and DescribeCluster answers with them.
func Serve(w *state.State, cluster, endpoint string, ca []byte) {
	defer w.Hold()()
	c := w.Clusters.Get(cluster)
	if c == nil {
		return
	}
	old := nodeConfig(c)
	c.Endpoint = aws.String(endpoint)
	c.CertificateAuthority = &ekstypes.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString(ca))}
	now := nodeConfig(c)
	for _, v := range w.TemplateVersions.All() {
		if d := v.LaunchTemplateData; d != nil && aws.ToString(d.UserData) == old {
			d.UserData = aws.String(now)
		}
	}
	for id, data := range w.UserData {
		if data == old {
			w.UserData[id] = now
		}
	}
}

// nodegroupImage is the image of a nodegroup's release: the world's first of
// the right architecture, or one made up.
func nodegroupImage(w *state.State, ng *state.Nodegroup) string {
	arch := ec2types.ArchitectureValuesX8664
	if info := w.InstanceTypes.Get(ng.InstanceTypes[0]); info != nil && info.ProcessorInfo != nil && len(info.ProcessorInfo.SupportedArchitectures) > 0 {
		arch = ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0])
	}
	for _, i := range w.Images.All() {
		if i.Architecture == arch {
			return aws.ToString(i.ImageId)
		}
	}
	short := map[ec2types.ArchitectureValues]string{ec2types.ArchitectureValuesX8664: "x86_64", ec2types.ArchitectureValuesArm64: "arm64"}[arch]
	id := w.IDs.EC2("ami")
	w.Images.Put(id, &ec2types.Image{
		ImageId: aws.String(id), Architecture: arch, OwnerId: aws.String("602401143452"), ImageOwnerAlias: aws.String("amazon"),
		Name:  aws.String(fmt.Sprintf("amazon-eks-node-al2023-%s-standard-%s-v20261112", short, aws.ToString(ng.Version))),
		State: ec2types.ImageStateAvailable, Public: aws.Bool(true), RootDeviceName: aws.String("/dev/xvda"),
		RootDeviceType: ec2types.DeviceTypeEbs, VirtualizationType: ec2types.VirtualizationTypeHvm,
		Hypervisor: ec2types.HypervisorTypeXen, EnaSupport: aws.Bool(true), ImageType: ec2types.ImageTypeValuesMachine,
	})
	return id
}
