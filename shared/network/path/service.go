package path

// Service is something that a node must reach before it can join.
type Service string

// The services, by the last part of their endpoint's service name.
const (
	API    Service = "cluster API"
	EC2    Service = "ec2"
	ECRAPI Service = "ecr.api"
	ECRDKR Service = "ecr.dkr"
	S3     Service = "s3"
	STS    Service = "sts"
	// EKS is needed by bootstraps that ask it about the cluster.
	EKS Service = "eks"
)

// Needed is what every node needs: the cluster API to register, EC2 and STS
// to learn and prove who it is, ECR and S3 (where ECR keeps image layers) for
// the pause, CNI and kube-proxy images (EKS user guide, "Deploy private
// clusters with limited internet access").
func Needed() []Service { return []Service{API, EC2, ECRAPI, ECRDKR, S3, STS} }

// Name is how a person calls the service.
func (s Service) Name() string {
	switch s {
	case API:
		return "the cluster API"
	case EC2:
		return "EC2"
	case ECRAPI:
		return "ECR (api)"
	case ECRDKR:
		return "ECR (dkr)"
	case S3:
		return "S3"
	case STS:
		return "STS"
	case EKS:
		return "EKS"
	}
	return string(s)
}

// Names lists services for a sentence; the two halves of ECR are one word
// when both are there.
func Names(list []Service) []string {
	var api, dkr bool
	for _, s := range list {
		api = api || s == ECRAPI
		dkr = dkr || s == ECRDKR
	}
	var names []string
	for _, s := range list {
		switch {
		case s == ECRAPI && dkr:
			names = append(names, "ECR")
		case s == ECRDKR && api:
		default:
			names = append(names, s.Name())
		}
	}
	return names
}
