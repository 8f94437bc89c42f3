package world

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// instanceTypeRow is one line of the table of known types: what a node's
// sizing needs. The numbers are those of EC2's DescribeInstanceTypes.
type instanceTypeRow struct {
	name       string
	arch       ec2types.ArchitectureType
	vcpus      int32
	memoryMiB  int64
	interfaces int32
	addresses  int32
}

// instanceTypeTable is the types that every world knows. A world may add more.
func instanceTypeTable() []instanceTypeRow {
	const x, arm = ec2types.ArchitectureTypeX8664, ec2types.ArchitectureTypeArm64
	return []instanceTypeRow{
		{"t3.micro", x, 2, 1024, 2, 2}, {"t3.small", x, 2, 2048, 3, 4}, {"t3.medium", x, 2, 4096, 3, 6},
		{"t3.large", x, 2, 8192, 3, 12}, {"t3.xlarge", x, 4, 16384, 4, 15}, {"t3a.medium", x, 2, 4096, 3, 6},
		{"t4g.medium", arm, 2, 4096, 3, 6}, {"t4g.large", arm, 2, 8192, 3, 12},
		{"m5.large", x, 2, 8192, 3, 10}, {"m5.xlarge", x, 4, 16384, 4, 15}, {"m5.2xlarge", x, 8, 32768, 4, 15},
		{"m5.4xlarge", x, 16, 65536, 8, 30}, {"m5.8xlarge", x, 32, 131072, 8, 30}, {"m5.12xlarge", x, 48, 196608, 8, 30},
		{"m5.16xlarge", x, 64, 262144, 15, 50}, {"m5.24xlarge", x, 96, 393216, 15, 50},
		{"m5a.large", x, 2, 8192, 3, 10}, {"m5a.xlarge", x, 4, 16384, 4, 15}, {"m5d.4xlarge", x, 16, 65536, 8, 30},
		{"m5n.4xlarge", x, 16, 65536, 8, 30}, {"m6i.large", x, 2, 8192, 3, 10}, {"m6i.xlarge", x, 4, 16384, 4, 15},
		{"m6i.4xlarge", x, 16, 65536, 8, 30}, {"m6a.4xlarge", x, 16, 65536, 8, 30}, {"m6g.large", arm, 2, 8192, 3, 10},
		{"m6g.xlarge", arm, 4, 16384, 4, 15}, {"m7g.large", arm, 2, 8192, 3, 10}, {"m7i.large", x, 2, 8192, 3, 10},
		{"c5.large", x, 2, 4096, 3, 10}, {"c5.xlarge", x, 4, 8192, 4, 15}, {"c5.2xlarge", x, 8, 16384, 4, 15},
		{"c5.4xlarge", x, 16, 32768, 8, 30}, {"c5a.4xlarge", x, 16, 32768, 8, 30},
		{"c6i.4xlarge", x, 16, 32768, 8, 30}, {"c6a.4xlarge", x, 16, 32768, 8, 30}, {"m5a.4xlarge", x, 16, 65536, 8, 30},
		{"r5a.4xlarge", x, 16, 131072, 8, 30}, {"r6i.4xlarge", x, 16, 131072, 8, 30}, {"c6i.large", x, 2, 4096, 3, 10}, {"r5.large", x, 2, 16384, 3, 10},
		{"r5.xlarge", x, 4, 32768, 4, 15}, {"r5.4xlarge", x, 16, 131072, 8, 30}, {"g4dn.xlarge", x, 4, 16384, 3, 10},
		{"m5n.large", x, 2, 8192, 3, 10}, {"m6a.large", x, 2, 8192, 3, 10}, {"c5a.large", x, 2, 4096, 3, 10}, {"r6i.large", x, 2, 16384, 3, 10},
	}
}

func (r instanceTypeRow) info() *ec2types.InstanceTypeInfo {
	family := strings.SplitN(r.name, ".", 2)[0]
	maker := "Intel"
	switch {
	case r.arch == ec2types.ArchitectureTypeArm64:
		maker = "AWS"
	case strings.HasSuffix(family, "a"):
		maker = "AMD"
	}
	// Graviton's virtual CPUs are cores; the others here have two threads.
	threads := int32(2)
	if r.arch == ec2types.ArchitectureTypeArm64 {
		threads = 1
	}
	return &ec2types.InstanceTypeInfo{
		InstanceType:                  ec2types.InstanceType(r.name),
		BareMetal:                     aws.Bool(false),
		BurstablePerformanceSupported: aws.Bool(strings.HasPrefix(family, "t")),
		CurrentGeneration:             aws.Bool(true),
		DedicatedHostsSupported:       aws.Bool(!strings.HasPrefix(family, "t4")),
		FreeTierEligible:              aws.Bool(r.name == "t3.micro"),
		Hypervisor:                    ec2types.InstanceTypeHypervisorNitro,
		InstanceStorageSupported:      aws.Bool(strings.Contains(family, "d")),
		MemoryInfo:                    &ec2types.MemoryInfo{SizeInMiB: aws.Int64(r.memoryMiB)},
		NetworkInfo: &ec2types.NetworkInfo{
			DefaultNetworkCardIndex: aws.Int32(0), EnaSupport: ec2types.EnaSupportRequired,
			Ipv4AddressesPerInterface: aws.Int32(r.addresses), Ipv6AddressesPerInterface: aws.Int32(r.addresses),
			Ipv6Supported: aws.Bool(true), MaximumNetworkCards: aws.Int32(1),
			MaximumNetworkInterfaces: aws.Int32(r.interfaces),
			NetworkCards:             []ec2types.NetworkCardInfo{{NetworkCardIndex: aws.Int32(0), MaximumNetworkInterfaces: aws.Int32(r.interfaces)}},
		},
		ProcessorInfo:                &ec2types.ProcessorInfo{Manufacturer: aws.String(maker), SupportedArchitectures: []ec2types.ArchitectureType{r.arch}},
		SupportedRootDeviceTypes:     []ec2types.RootDeviceType{ec2types.RootDeviceTypeEbs},
		SupportedUsageClasses:        []ec2types.UsageClassType{ec2types.UsageClassTypeOnDemand, ec2types.UsageClassTypeSpot},
		SupportedVirtualizationTypes: []ec2types.VirtualizationType{ec2types.VirtualizationTypeHvm},
		VCpuInfo: &ec2types.VCpuInfo{
			DefaultVCpus: aws.Int32(r.vcpus), DefaultCores: aws.Int32(r.vcpus / threads), DefaultThreadsPerCore: aws.Int32(threads),
		},
	}
}
