package kube

import "context"

// mostVolumes is how many PersistentVolumes or claims are read: more is beyond
// what Kubernetes itself is tested with in one cluster.
const mostVolumes = 20_000

// PersistentVolume is what is read of a v1 PersistentVolume.
type PersistentVolume struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		StorageClassName string `json:"storageClassName"`
		ClaimRef         *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"claimRef"`
		CSI *struct {
			Driver       string `json:"driver"`
			VolumeHandle string `json:"volumeHandle"`
		} `json:"csi"`
		// AWS is the form of older Kubernetes versions.
		AWS *struct {
			VolumeID string `json:"volumeID"`
		} `json:"awsElasticBlockStore"`
		NodeAffinity *struct {
			Required *NodeSelector `json:"required"`
		} `json:"nodeAffinity"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// NodeSelector is a v1 NodeSelector: one of its terms must hold.
type NodeSelector struct {
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// NodeSelectorTerm is one of a selector's terms: all of it must hold.
type NodeSelectorTerm struct {
	Labels []Requirement `json:"matchExpressions"`
	Fields []Requirement `json:"matchFields"`
}

// Requirement is one condition on a node's label or field.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// PersistentVolumeClaim is what is read of a v1 PersistentVolumeClaim.
type PersistentVolumeClaim struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		StorageClassName string `json:"storageClassName"`
		VolumeName       string `json:"volumeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// PersistentVolumes lists all PersistentVolumes.
func (c *Client) PersistentVolumes(ctx context.Context) ([]PersistentVolume, error) {
	return list[PersistentVolume](ctx, c, "persistentvolumes", "/api/v1/persistentvolumes", nil, mostVolumes)
}

// PersistentVolumeClaims lists the claims of all namespaces.
func (c *Client) PersistentVolumeClaims(ctx context.Context) ([]PersistentVolumeClaim, error) {
	return list[PersistentVolumeClaim](ctx, c, "persistentvolumeclaims", "/api/v1/persistentvolumeclaims", nil, mostVolumes)
}
