#include "CSys.h"
