package ip

const deleteLeakedInterfaces = "delete-leaked-interfaces"
