package worldgen

import (
	"net/netip"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// The cluster's own endpoint and authority, as user data carries them.
const (
	endpoint  = "https://0A1B2C3D4E5F60718293A4B5C6D7E8F9.gr7.us-west-2.eks.amazonaws.com"
	authority = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
	issuer    = "oidc.eks.us-west-2.amazonaws.com/id/0A1B2C3D4E5F60718293A4B5C6D7E8F9"
)

// service4 and service6 are the ranges of the cluster's services.
const (
	service4 = "172.20.0.0/16"
	service6 = "fd12:3456:789a::/108"
)

// makeCluster makes the EKS cluster, its interfaces in the VPC and its add-ons.
func (w *World) makeCluster() {
	network := &ekstypes.KubernetesNetworkConfigResponse{IpFamily: ekstypes.IpFamilyIpv4, ServiceIpv4Cidr: aws.String(service4)}
	if w.Shape.IPv6 {
		network = &ekstypes.KubernetesNetworkConfigResponse{IpFamily: ekstypes.IpFamilyIpv6, ServiceIpv6Cidr: aws.String(service6)}
	}
	w.File.EKS.Clusters = append(w.File.EKS.Clusters, ekstypes.Cluster{
		Name: aws.String(cluster), Version: &w.version, Status: ekstypes.ClusterStatusActive, CreatedAt: w.long(),
		Endpoint: aws.String(endpoint), CertificateAuthority: &ekstypes.Certificate{Data: aws.String(authority)},
		RoleArn:  aws.String("arn:aws:iam::" + account + ":role/" + cluster + "-cluster"),
		Identity: &ekstypes.Identity{Oidc: &ekstypes.OIDC{Issuer: aws.String("https://" + issuer)}},
		ResourcesVpcConfig: &ekstypes.VpcConfigResponse{
			VpcId: &w.vpc, SubnetIds: w.private, ClusterSecurityGroupId: &w.clusterGroup,
			EndpointPublicAccess: w.Shape.Access != PrivateAPI, EndpointPrivateAccess: w.Shape.inside(), PublicAccessCidrs: w.admitted(),
		},
		KubernetesNetworkConfig: network,
		AccessConfig:            &ekstypes.AccessConfigResponse{AuthenticationMode: ekstypes.AuthenticationMode(w.Shape.Auth)},
	})
	if w.Shape.Fleet == AutoMode {
		w.eks().ComputeConfig = &ekstypes.ComputeConfigResponse{Enabled: aws.Bool(true), NodePools: []string{"general-purpose", "system"}}
	}
	for n, subnet := range w.private[:2] {
		s := w.subnet(subnet)
		eni := ec2types.NetworkInterface{
			NetworkInterfaceId: aws.String(w.id("eni")), SubnetId: s.SubnetId, Description: aws.String("Amazon EKS " + cluster),
			InterfaceType: ec2types.NetworkInterfaceTypeInterface, RequesterManaged: aws.Bool(true), Status: ec2types.NetworkInterfaceStatusInUse,
			PrivateIpAddress: aws.String(address(*s.CidrBlock, 200+n)), Groups: []ec2types.GroupIdentifier{{GroupId: &w.clusterGroup}},
		}
		if w.Shape.IPv6 {
			six := netip.MustParsePrefix(*s.Ipv6CidrBlockAssociationSet[0].Ipv6CidrBlock)
			eni.Ipv6Addresses = []ec2types.NetworkInterfaceIpv6Address{{Ipv6Address: aws.String(address(six.String(), 200+n))}}
		}
		w.File.EC2.NetworkInterfaces = append(w.File.EC2.NetworkInterfaces, eni)
	}
	w.addAddon("vpc-cni", "v1.20.4-eksbuild.1")
	w.addAddon("kube-proxy", "v"+w.version+".0-eksbuild.2")
	w.addAddon("coredns", "v1.12.4-eksbuild.1")
	if w.Shape.CNI == PodIdentity {
		w.addAddon("eks-pod-identity-agent", "v1.3.8-eksbuild.2")
	}
}

func (w *World) addAddon(name, version string) {
	w.File.EKS.Addons = append(w.File.EKS.Addons, ekstypes.Addon{
		ClusterName: aws.String(cluster), AddonName: &name, AddonVersion: &version, Status: ekstypes.AddonStatusActive,
	})
}

// admitted are the ranges that the public endpoint admits.
func (w *World) admitted() []string {
	all := []string{"0.0.0.0/0"}
	if w.Shape.IPv6 {
		all = append(all, "::/0")
	}
	// Nobody but the landlord knows the address of a shared VPC's gateway.
	if !w.Shape.Restricted || w.Shape.Egress == SharedVPC {
		return all
	}
	list := []string{"198.51.100.0/24"} // an office
	for _, n := range w.File.EC2.NatGateways {
		for _, a := range n.NatGatewayAddresses {
			list = append(list, *a.PublicIp+"/32")
		}
	}
	switch w.Shape.Egress {
	case Public:
		list = append(list, nodeRange)
	case NATInstance:
		list = append(list, natInstance+"/32")
	}
	if w.six() {
		list = append(list, w.range6.String())
	}
	return list
}
