package messages

// apiRows are codes of APIs that tell what went wrong with a call and not with
// a node: they have a meaning and no check. The codes of failed launches are
// in package activity, those of health issues in package nodegroup.
func apiRows() []Row {
	const again = "Retry. If it repeats, paste the whole message."
	explain := func(meaning, next string, codes ...string) Row {
		return Row{Meaning: meaning, Next: next, Codes: codes, Source: apiDoc,
			Sample: "An error occurred (" + codes[0] + ") when calling the DescribeSubnets operation: some words"}
	}
	return []Row{
		explain("the caller's credentials or clock are not valid: the call was rejected", "Renew the credentials, and correct the caller's clock.",
			"SignatureDoesNotMatch", "RequestExpired", "InvalidSecurity.RequestHasExpired", "InvalidSignatureException", "InvalidClientTokenId",
			"UnrecognizedClientException", "MissingAuthenticationToken", "IncompleteSignature", "ExpiredToken", "ExpiredTokenException", "InvalidToken"),
		explain("the caller is not allowed to use what the call names, or its credentials are not valid",
			"Paste the whole message: the resource in it (an image, a role) identifies the check.", "AuthFailure"),
		explain("EC2 rejects a parameter of the call; the text after the code names it", "Paste the whole message: the parameter and its value identify the check.",
			"InvalidParameter", "InvalidParameterValue", "InvalidParameterCombination", "InvalidParameterDependency", "MissingParameter", "MissingInput",
			"UnknownParameter", "ValidationError", "ValidationException", "InvalidInput", "InvalidRequest", "InvalidID", "InvalidCharacter",
			"InvalidAction", "MissingAction", "InvalidQueryParameter", "MalformedQueryString", "InvalidFormat"),
		explain("the same request was made twice with different values, or while another one is running", again,
			"IdempotentParameterMismatch", "IdempotentInstanceTerminated", "ConcurrentTagAccess", "ResourceContention", "ResourceContentionFault",
			"ScalingActivityInProgress", "ScalingActivityInProgressFault", "InstanceRefreshInProgress", "InstanceRefreshInProgressFault", "IncorrectState",
			"IncorrectInstanceState", "InvalidInstanceState", "InvalidState", "CreditSpecificationUpdateInProgress"),
		explain("the instance in the call does not exist, or is so new that EC2 does not know it yet", again, "InvalidInstanceID.NotFound",
			"InvalidInstanceID.Malformed", "InvalidInstanceID"),
		explain("a fault inside AWS, usually a temporary one", again, "InternalError", "InternalFailure", "InternalServerError", "Unavailable",
			"ServiceUnavailable", "ServiceUnavailableException", "ServerException", "ResourcePropagationDelayException"),
		explain("a quota of the account is reached; the text after the code names it", "Request a higher quota in Service Quotas, or free what is not needed.",
			"ResourceLimitExceeded", "ResourceLimitExceededException", "ResourceCountExceeded", "ResourceCountLimitExceeded", "LimitExceeded",
			"LimitExceededFault", "NetworkInterfaceLimitExceeded", "PlacementGroupLimitExceeded", "HostLimitExceeded", "RulesPerSecurityGroupLimitExceeded",
			"SnapshotLimitExceeded", "KeyPairLimitExceeded", "ServiceQuotaExceededException"),
		explain("the caller of EKS lacks a permission; this is not about nodes", "Allow the call in the caller's policy.", "AccessDeniedException"),
		explain("EKS rejects the request; the text after the code names the reason", "Paste the whole message: the resource in it identifies the check.",
			"InvalidParameterException", "InvalidRequestException", "BadRequestException", "ClientException", "InvalidStateException"),
		explain("what the call names does not exist in this account and region, or is in use", "Compare its name and region.",
			"ResourceNotFoundException", "NotFoundException", "ResourceInUseException", "ResourceInUse", "ResourceInUseFault", "AlreadyExists",
			"AlreadyExistsFault", "ResourceAlreadyExistsException", "ActiveInstanceRefreshNotFound", "ActiveInstanceRefreshNotFoundFault",
			"IrreversibleInstanceRefresh", "IrreversibleInstanceRefreshFault", "InvalidNextToken"),
		explain("the call was only a dry run: it would have been allowed", "Nothing is wrong.", "DryRunOperation"),
	}
}
