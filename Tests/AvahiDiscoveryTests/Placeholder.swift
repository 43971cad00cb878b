// AvahiDiscovery
