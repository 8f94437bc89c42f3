package worldfile

// SetFile is a StatefulSet: its pods are called after it and a number, and each
// comes again when its node goes.
type SetFile struct {
	Namespace string // default where empty
	Name      string
	Replicas  int // 1 where 0
	// Claim is the claim of its pods' data, none where empty. A set with several
	// replicas has one for each: the claim's name, the set's and the number.
	Claim string
	// NodeSelector are labels that its nodes must have.
	NodeSelector map[string]string
	// Tolerations are taints that its pods tolerate.
	Tolerations []Toleration
}

// Toleration is as in Kubernetes: an empty key tolerates every taint, an empty
// effect every effect, and Operator Exists every value.
type Toleration struct {
	Key      string
	Operator string
	Value    string
	Effect   string
}
