"""The views as transforms of torch_geometric, for any `Compose`, data set and `DataLoader`.

`PPR` and `Heat` diffuse (Eq. 4–6), `DropNodes` and `DropFeatures` drop out (Eq. 2, 3). All take
Data and HeteroData, and leave what they are given as it is.
"""

from dgb.transforms.diffuse import PPR, Heat
from dgb.transforms.drop import DropFeatures, DropNodes

__all__ = ["PPR", "DropFeatures", "DropNodes", "Heat"]
