package ec2

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// TestWhatTypesAreChosenBy: the numbers are those of EC2's own answers for the types.
func TestWhatTypesAreChosenBy(t *testing.T) {
	for name, tt := range map[string]struct {
		info types.InstanceTypeInfo
		want snapshot.InstanceType
	}{
		"g5.xlarge": {types.InstanceTypeInfo{
			InstanceType: "g5.xlarge", MemoryInfo: &types.MemoryInfo{SizeInMiB: aws.Int64(16384)}, ProcessorInfo: &types.ProcessorInfo{Manufacturer: aws.String("AMD")},
			NetworkInfo:         &types.NetworkInfo{EncryptionInTransitSupported: aws.Bool(true)},
			InstanceStorageInfo: &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(250), NvmeSupport: types.EphemeralNvmeSupportRequired},
			EbsInfo:             &types.EbsInfo{EbsOptimizedSupport: types.EbsOptimizedSupportDefault, EbsOptimizedInfo: &types.EbsOptimizedInfo{MaximumBandwidthInMbps: aws.Int32(3500)}},
			GpuInfo:             &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("A10G"), Manufacturer: aws.String("NVIDIA"), Count: aws.Int32(1), MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: aws.Int32(24576)}}}},
		}, snapshot.InstanceType{MemoryMiB: 16384, CPUMaker: "AMD", LocalNVMeGB: 250, EBSMbps: 3500, EncryptsInTransit: true, GPU: snapshot.Device{Name: "A10G", Maker: "NVIDIA", Count: 1, MemoryMiB: 24576}}},
		"inf2.xlarge": {types.InstanceTypeInfo{
			InstanceType:             "inf2.xlarge",
			InferenceAcceleratorInfo: &types.InferenceAcceleratorInfo{Accelerators: []types.InferenceDeviceInfo{{Name: aws.String("Inferentia2"), Manufacturer: aws.String("AWS"), Count: aws.Int32(1)}}},
			EbsInfo:                  &types.EbsInfo{EbsOptimizedSupport: types.EbsOptimizedSupportSupported, EbsOptimizedInfo: &types.EbsOptimizedInfo{MaximumBandwidthInMbps: aws.Int32(1)}},
			InstanceStorageInfo:      &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(80), NvmeSupport: types.EphemeralNvmeSupportUnsupported},
		}, snapshot.InstanceType{Accelerator: snapshot.Device{Name: "Inferentia2", Maker: "AWS", Count: 1}}},
		"two kinds of GPUs": {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Count: aws.Int32(1)}, {Count: aws.Int32(2)}}}}, snapshot.InstanceType{}},
	} {
		var got snapshot.InstanceType
		choices(tt.info, &got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
