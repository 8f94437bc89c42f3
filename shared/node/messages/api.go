package messages

// apiRows are codes of APIs that tell what went wrong with a call and not with
// a node: they have a meaning and no check. The codes of failed launches are
// in package activity, those of health issues in package nodegroup.
func apiRows() []Row {
	const again = "Try again. Where it repeats, send the whole message."
	explain := func(meaning, next string, codes ...string) Row {
		return Row{Meaning: meaning, Next: next, Codes: codes, Source: apiDoc,
			Sample: "An error occurred (" + codes[0] + ") when calling the DescribeSubnets operation: some words"}
	}
	return []Row{
		explain("the caller's credentials or clock are not valid: the call was not looked at", "Renew the credentials, and correct the clock of who called.",
			"SignatureDoesNotMatch", "RequestExpired", "InvalidSecurity.RequestHasExpired", "InvalidSignatureException", "InvalidClientTokenId",
			"UnrecognizedClientException", "MissingAuthenticationToken", "IncompleteSignature", "ExpiredToken", "ExpiredTokenException", "InvalidToken"),
		explain("the caller may not use what the call names, or its credentials are not valid",
			"Send the whole message: what it names (an image, a role) tells which check it is.", "AuthFailure"),
		explain("EC2 refuses a parameter of the call; the words behind the code say which", "Send the whole message: the parameter and its value tell which check it is.",
			"InvalidParameter", "InvalidParameterValue", "InvalidParameterCombination", "InvalidParameterDependency", "MissingParameter", "MissingInput",
			"UnknownParameter", "ValidationError", "ValidationException", "InvalidInput", "InvalidRequest", "InvalidID", "InvalidCharacter",
			"InvalidAction", "MissingAction", "InvalidQueryParameter", "MalformedQueryString", "InvalidFormat"),
		explain("the same request was made twice with other values, or is made while another one runs", again,
			"IdempotentParameterMismatch", "IdempotentInstanceTerminated", "ConcurrentTagAccess", "ResourceContention", "ResourceContentionFault",
			"ScalingActivityInProgress", "ScalingActivityInProgressFault", "InstanceRefreshInProgress", "InstanceRefreshInProgressFault", "IncorrectState",
			"IncorrectInstanceState", "InvalidInstanceState", "InvalidState", "CreditSpecificationUpdateInProgress"),
		explain("the instance that the call names does not exist, or is so new that EC2 does not know it yet", again, "InvalidInstanceID.NotFound",
			"InvalidInstanceID.Malformed", "InvalidInstanceID"),
		explain("a fault inside AWS, mostly one that passes", again, "InternalError", "InternalFailure", "InternalServerError", "Unavailable",
			"ServiceUnavailable", "ServiceUnavailableException", "ServerException", "ResourcePropagationDelayException"),
		explain("a quota of the account is reached; the words behind the code say which", "Ask for a higher quota in Service Quotas, or free what is not needed.",
			"ResourceLimitExceeded", "ResourceLimitExceededException", "ResourceCountExceeded", "ResourceCountLimitExceeded", "LimitExceeded",
			"LimitExceededFault", "NetworkInterfaceLimitExceeded", "PlacementGroupLimitExceeded", "HostLimitExceeded", "RulesPerSecurityGroupLimitExceeded",
			"SnapshotLimitExceeded", "KeyPairLimitExceeded", "ServiceQuotaExceededException"),
		explain("who asked EKS is not allowed to; that says nothing of nodes", "Allow the call in the caller's policy.", "AccessDeniedException"),
		explain("EKS refuses the request; the words behind the code say why", "Send the whole message: what it names tells which check it is.",
			"InvalidParameterException", "InvalidRequestException", "BadRequestException", "ClientException", "InvalidStateException"),
		explain("what the call names does not exist in this account and region, or is in use", "Compare its name and region.",
			"ResourceNotFoundException", "NotFoundException", "ResourceInUseException", "ResourceInUse", "ResourceInUseFault", "AlreadyExists",
			"AlreadyExistsFault", "ResourceAlreadyExistsException", "ActiveInstanceRefreshNotFound", "ActiveInstanceRefreshNotFoundFault",
			"IrreversibleInstanceRefresh", "IrreversibleInstanceRefreshFault", "InvalidNextToken"),
		explain("the call was only a trial: it would have been allowed", "Nothing is wrong.", "DryRunOperation"),
	}
}
